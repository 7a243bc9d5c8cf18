"""The workbook as files: building the learner's notebooks, copying them, running and remembering.

places    where notebooks/ and solutions/ stand, in a checkout and in an installed wheel
files     written whole or not at all
form      the one canonical form of a notebook
build     solutions/ → notebooks/
catalogue puzzles by id, number or notebook
folder    the learner's folder: copy what is missing, reset one puzzle
progress  what was solved and which hints were seen, in .wia-lab.json
runner    run a notebook in a kernel and read the verdict of its check cells
learner   `check` and `hint` as a notebook calls them, remembered in the learner's folder

Stands above the puzzles and below grading and the command line.
"""
