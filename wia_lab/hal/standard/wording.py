"""Sentences that several rows of the table choose by."""

CLOSED = "C destroys; here `with` ends it, or `close`, and twice is fine."
COLLECTED = "C destroys; here it goes with the last reference, as it holds nothing of the device's."
SUBMITTED = "Stands for any work of the program's: submit a callable, or launch a kernel."
MADE = "Making one is calling the class."
