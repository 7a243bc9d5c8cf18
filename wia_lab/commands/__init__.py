"""One module a topic of the command line. Each is imported when its command is called.

A new command is a function here and a row in `wia_lab.cli.COMMANDS`.
"""
