# puzzle: start
# status: refused
class square:
    py_func = None
