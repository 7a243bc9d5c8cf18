"""Grading a class: what a student sent is data; what earns points was judged by the parent.

layouts     where each student's files stand in a folder (plain, nbgrader, Moodle, Canvas)
submission  files read with limits; nothing in them is run
answers     answer cells by id or by definition, with what looks odd about the notebook
refusal     what an answer cell may contain; allowed names what it may import
slices      the definitions that a name needs, cut out of a cell or a module
seeds       inputs from HMAC(seed, student, puzzle, attempt)
sandbox     a worker in bubblewrap, or with resource limits alone; worker is what runs inside
plain       data over the pipe; limits what an answer may use
verdicts    an answer in, entries and diagnosis out; student all answers of one student
official    the notebook of the verdict, run by nbval, which must agree
course      grading.toml: points, gate weights, dates
records     what is kept of a student, written atomically and reused when nothing changed
gradebook, feedback, classroom, similar   what is written for people
pool, cluster, grade   one machine, a Dask cluster, and the whole run
release, pack, nbgrader   what goes to the students, and what comes back
"""
