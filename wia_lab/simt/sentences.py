"""What Numba says of common slips, and the sentence that is said first.

The first pattern that is found in Numba's message counts, so what is special stands before what is
general. The groups of a pattern are {0}, {1}, … of its sentence.
"""

from __future__ import annotations

import re

_NEW_ARRAY = "makes a new array, and a kernel cannot allocate memory: write a loop over elements"
_NO_LIST = "a list cannot be made in a kernel: use a tuple, or cuda.local.array"
_GIVEN = r".*?>>> [^(]*\((.*?)\)\n"
_ARRAY = r"(?:\w+ )?array\([^()]*(?:\([^()]*\)[^()]*)?\)"
_TUPLE = r"(?:Uni)?Tuple\([^\n]*?\)"
_PART = r"(?:Literal\[\w+\]\([^()]*\)|\w+)"
_ARITHMETIC = "lt|le|gt|ge|eq|ne|sub|mul|truediv|floordiv|mod|pow|neg"
_MAKERS = "zeros|ones|empty|full|zeros_like|ones_like|empty_like|full_like|arange|linspace|array"
_OF_WHOLE = "max|min|amax|amin|argmax|argmin|mean|std|var|prod|median|any|all|sort|argsort"
_OF_ONE = "exp|log|sqrt|sin|cos|tan|tanh|floor|ceil|pow|fabs|erf|log2|log10|expm1|log1p"

SENTENCES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), sentence)
    for pattern, sentence in (
        (
            (
                r">>> \w+\([^\n]*\bDim3\b|failed to unpack Dim3|Invalid use of Dim3|"
                r"Unknown attribute '\w+' of type Dim3"
            ),
            (
                "threadIdx, blockIdx, blockDim and gridDim hold three numbers each: write which "
                "one, as in cuda.threadIdx.x, .y or .z"
            ),
        ),
        (
            r"cuda\.((?:threadIdx|blockIdx|blockDim|gridDim)) works only inside a kernel",
            "cuda.{0}.x is a number and no function: leave out the parentheses",
        ),
        (
            rf">>> (?:{_ARITHMETIC})\((?:{_TUPLE}, [^\n]+|[^\n]+, {_TUPLE})\)\n",
            (
                "a tuple of numbers stands where one number is needed: name each, as in "
                "column, row = cuda.grid(2), or take one, as in out.shape[0]"
            ),
        ),
        (
            r"Unknown attribute '(\w+)' of type (?:Uni)?Tuple",
            "a tuple has no .{0}: its parts are numbered, as in out.shape[0], out.shape[1]",
        ),
        (
            r"Unknown attribute '([xyz])' of type (?:u?int|Literal\[int)",
            "a number has no .{0}: cuda.grid(1) is the number itself, cuda.grid(2) gives x and y",
        ),
        (
            r"failed to unpack (?:u?int|float)\d+",
            "one number cannot be unpacked into several names: cuda.grid(2) gives two numbers",
        ),
        (r"exception_match|mark_try_block", "try has no meaning in a kernel: test before you act"),
        (
            r"The use of yield in a closure is unsupported",
            "a generator expression has no meaning in a kernel: write a loop",
        ),
        (r">>> (?!print)\w+\([^\n]*?\b(?:reflected )?list\(", _NO_LIST),
        (
            r">>> \w+\((?:none\b|[^\n]*, none\b)",
            (
                "None stands where a value is needed: a barrier, a copy and a function without "
                "return give nothing back, so store no result of theirs"
            ),
        ),
        (
            rf">>> (?:get|set)item\({_ARRAY}, (?:(?:Uni)?Tuple\((?:{_PART}(?:, | x ))*?)?float\d+",
            "an index is an integer, and this one is a float: / gives a float, // an integer",
        ),
        (
            rf">>> setitem\({_ARRAY}, (?![^\n]*slice)[^\n]+, (?:readonly )?{_ARRAY}\)\n",
            (
                "an element takes one number, and this is a whole array or row: give an index for "
                "each of its dimensions"
            ),
        ),
        (
            rf"Function\(<cuda\.((?:shared|local)\.array)>\){_GIVEN}"
            r".*?missing a required argument: 'dtype'",
            "cuda.{0} needs the type of its elements too, as in cuda.{0}(SIZE, float32)",
        ),
        (
            rf"Function\(<cuda\.((?:shared|local)\.array)>\){_GIVEN}",
            (
                "the shape of cuda.{0} must be an integer or a tuple of integers, each a literal "
                "or a global constant (an expression goes into a global: SIZE = TILE + 2), and "
                "dtype a type; given ({1})"
            ),
        ),
        (
            r"Function\(<cuda\.(grid|gridsize)>\)",
            "cuda.{0} takes the literal 1, 2 or 3: the number of dimensions",
        ),
        (r"argument can only be 1, 2, 3", "cuda.grid and cuda.gridsize take 1, 2 or 3"),
        (
            rf"Function\(<cuda\.(syncthreads_\w+)>\){_GIVEN}",
            "cuda.{0} takes an integer, not {1}: write 1 if test else 0",
        ),
        (
            rf"Function\(<cuda\.(shfl_\w+)>\){_GIVEN}",
            (
                "cuda.{0} takes (mask, value, lane) with value an int32, int64, float32 or "
                "float64; given ({1})"
            ),
        ),
        (
            rf"Function\(<cuda\.((?:all|any|eq|ballot)_sync)>\){_GIVEN}",
            "cuda.{0} takes (mask, predicate), both integers or the second a boolean; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.(?:inc|dec))>\){_GIVEN}",
            "cuda.{0} works on arrays of uint32 and uint64; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.(?:and_|or_|xor|exch|cas|compare_and_swap))>\){_GIVEN}",
            "cuda.{0} works on arrays of integers of 32 and 64 bits; given ({1})",
        ),
        (
            rf"Function\(<cuda\.(atomic\.\w+)>\){_GIVEN}",
            "cuda.{0} works on arrays of integers and floats of 32 and 64 bits; given ({1})",
        ),
        (
            (
                r"Function\(<(cuda\.[\w.]+)>\).*?(missing a required argument|too many positional "
                r"arguments|got an unexpected keyword argument|multiple values for argument)"
                r"([^\n]*)"
            ),
            "this call of {0} has not the arguments that it needs: {1}{2}",
        ),
        (  # the last attempt, which is that with the literals
            (
                r"Function\(<cuda\.(?:cp_async|copy_dram)\w*>\).*"
                r"(?:TypingError|RequireLiteralValue): ([^\n]+)"
            ),
            "{0}",
        ),
        (
            (
                r"Function\(<class '(?:str|repr)'>\)|Function\(<built-in function (?:mod|add)>\)"
                r".*?>>> \w+\((?:Literal\[str\]|unicode)"
            ),
            (
                "a kernel cannot make texts (no f-string, no str(), no %, no +): print takes "
                "several values, as in print('i', i)"
            ),
        ),
        (r"Untyped global name '(\w+)'.*?(it is known only[^\n]*)", "{0}: {1}"),
        (
            r"Untyped global name '(\w+)'[^\n]*<class 'function'>",
            (
                "{0} is a plain Python function: decorate it with @cuda.jit(device=True) to call "
                "it from a kernel"
            ),
        ),
        (
            r"Untyped global name '(\w+)'[^\n]*<class '([^']+)'>",
            "{0} has no meaning in a kernel (it is a {1})",
        ),
        (
            r"No conversion from (\S.*?) to none for",
            "a kernel cannot return a value, this one returns {0}: write it to an array argument",
        ),
        (
            r"wrong tuple length for [^']*', 'expected (\d+), got (\d+)'",
            "{1} values cannot be unpacked into {0} names",
        ),
        (
            r"Cannot unify ([^\n]+?) and ([^\n]+?) for '(\w+)[.\d]*'",
            "{2} is {0} on one path and {1} on another: use a name for each, or convert",
        ),
        (
            r"Cannot unify ([^\n]+?) and ([^\n]+?) for '\$",
            "one value is {0} on one path and {1} on another: convert them to one type",
        ),
        (
            r">>> bool\(array\(",
            "if, while, and, or need one truth value, not a whole array's: compare one element",
        ),
        (
            r"No implementation of function Function\(<(?:built-in )?function where\b",
            "np.where is not available in a kernel: write x if condition else y",
        ),
        (
            rf"No implementation of function Function\(<(?:built-in )?function ({_MAKERS})\b",
            (
                "np.{0} makes a new array, and a kernel cannot allocate memory: use "
                "cuda.shared.array for what the threads of a block share, or cuda.local.array for "
                "what a thread keeps"
            ),
        ),
        (
            rf"No implementation of function Function\(<(?:built-in )?function ({_OF_WHOLE})\b",
            "np.{0} of a whole array is not available in a kernel: write a loop over elements",
        ),
        (
            (
                r"No implementation of function Function\(<built-in function (\w+)>\) found for "
                rf"signature:\s+>>> (?:{_OF_ONE})\((?:\w+ )?array\("
            ),
            "math.{0} takes one number, and this is a whole array: give it an element",
        ),
        (
            (
                r"No implementation of function Function\(<(?:built-in )?function (\w+)[^>]*>\)"
                r".*?(?:Only accept returning|cannot allocate)"
            ),
            "{0}() " + _NEW_ARRAY,
        ),
        (
            r"Only accept returning of array passed into the function as argument",
            "a device function can return an array only if it was given it: pass the array in",
        ),
        (r"Unknown attribute 'append' of type list|empty list", _NO_LIST),
        (
            r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
            "{1} has no {0} in a kernel",
        ),
        (r"Unknown attribute '(\w+)' of type ([^\n]+)", "{1} has no {0} in a kernel"),
        (
            r"Use of unsupported opcode \(IMPORT_(?:NAME|FROM)\)",
            "import has no meaning in a kernel: import at the top of the file",
        ),
        (
            r"Use of unsupported opcode \(LOAD_BUILD_CLASS\)",
            "a class cannot be made in a kernel: use a tuple, or a named tuple made outside",
        ),
        (
            r"Use of unsupported opcode \((?:STORE|DELETE)_GLOBAL\)",
            "a kernel cannot change a global: write to an array argument",
        ),
        (
            r"Use of unsupported opcode \(UNPACK_EX\)",
            "a starred name takes no rest in a kernel: write a name for each part",
        ),
        (
            r"Use of unsupported opcode \((\w+)\)",
            (
                "this construct is not part of CUDA Python (Python's bytecode {0}): write it with "
                "loops, conditions and array elements"
            ),
        ),
        (
            r"^(?:[^\n]*\n)*?tuple index out of range",
            (
                "a tuple or shape has no element of this number: an array of n dimensions has "
                "shape[0] to shape[n - 1]"
            ),
        ),
        (r"Illegal use of context-manager", "with has no meaning in a kernel: leave it out"),
        (r"Illegal IR, del found at: del (\w+)", "del has no meaning in a kernel: leave it out"),
        (r"Invalid use of <built-in function i?matmul>", "@ " + _NEW_ARRAY),
        (
            r"Use of unsupported NumPy function 'numpy\.([\w.]+)'",
            "np.{0} has no meaning in a kernel: write a loop over elements",
        ),
        (
            (
                r"Invalid use of ((?:Literal|array|int|uint|float|bool|complex)[^\n]*) with "
                r"parameters \(([^\n]*)\)\n"
            ),
            (
                "{0} is a value and no function, so it cannot be called with ({1}): leave out the "
                "parentheses, or write [ ] for an element"
            ),
        ),
        (
            r"Invalid use of getiter with parameters \((?:Literal\[int\]|u?int|float)[^\n]*\)\n",
            "a loop cannot run over a number: write range(n)",
        ),
        (
            r"Invalid use of getiter with parameters \((.*?)\)\n",
            "a loop cannot run over {0}, whose elements differ in type: unpack it",
        ),
        (
            r"Type of variable '\$[^']*' cannot be determined",
            "a value has no type where it is used: assign it on a line of its own, without :=",
        ),
        (
            r"Type of variable '(\w+)[^']*' cannot be determined",
            "{0} has no type where it is used: assign it on every path before",
        ),
        (
            r">>> setitem\(readonly ",
            (
                "the array is read-only, as one that the launch is not given is a constant in a "
                "kernel: write to an array argument"
            ),
        ),
        (
            r">>> setitem\((?:DictType|reflected)",
            "a dict or list has no elements to set in a kernel: use an array",
        ),
        (
            (
                r">>> setitem\(((?:unaligned )?array\(.*?\)|[^,\n]+), "
                rf"((?:Uni)?Tuple\((?:{_PART}(?:, | x )?)*\)|[^,\n]+), ([^\n]+)\)\n"
            ),
            "{2} cannot be stored at index {1} of {0}: give an integer for each dimension",
        ),
        (
            r">>> getitem\((DictType|Literal\[str\]).*?\)\n",
            "a dict or a text has no elements in a kernel: use an array given at launch",
        ),
        (
            r">>> getitem\(((?:\w+ )?array\([^\n]*?, \dd, \w\)), ([^\n]+)\)\n",
            "{0} does not take the index {1}: give an integer for each dimension",
        ),
        (
            r">>> getitem\((.*?), ([^,\n]+)\)\n",
            "{0} has no element {1} that is known when the kernel is compiled",
        ),
        (
            r"Cannot infer the type of variable '(\w+)[^']*'[^\n]*imprecise type: ([a-zA-Z]+)",
            "an empty {1} has no meaning in a kernel: use cuda.local.array for {0}",
        ),
        (
            rf"No implementation of function Function\((.+?)\) found for signature:{_GIVEN}",
            "{0} does not take ({1}) in a kernel",
        ),
    )
)
