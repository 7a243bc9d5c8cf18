"""What each device operation is called and means: the tables behind `stubs`.

`LIBDEVICE` and `FLOAT16` map a signature to the names that have it: the result, a colon, the
arguments, a letter a type as NumPy's character codes have them, several results in parentheses.
They follow NVIDIA's libdevice user's guide and CUDA math API as numba-cuda 0.30 binds them.
"""

from __future__ import annotations

_WARP = " `mask` names the lanes that take part; each must come."

OPERATIONS: dict[str, tuple[str, str]] = {
    "grid": (
        "grid(ndim)",
        (
            "This thread's place in the whole grid: an int64 for ndim 1, a tuple for 2 and 3. "
            "`ndim` is a literal."
        ),
    ),
    "gridsize": (
        "gridsize(ndim)",
        "Threads in the whole grid: an int64 for ndim 1, a tuple for 2 and 3. `ndim` is a literal.",
    ),
    "syncthreads": (
        "syncthreads()",
        "Wait until every thread of the block has come; what each wrote before is seen by all.",
    ),
    "syncthreads_count": (
        "syncthreads_count(predicate)",
        "As syncthreads; returns in how many threads the integer `predicate` was not 0.",
    ),
    "syncthreads_and": (
        "syncthreads_and(predicate)",
        "As syncthreads; returns 1 if the integer `predicate` was not 0 in every thread, else 0.",
    ),
    "syncthreads_or": (
        "syncthreads_or(predicate)",
        "As syncthreads; returns 1 if the integer `predicate` was not 0 in any thread, else 0.",
    ),
    "syncwarp": (
        "syncwarp(mask=0xFFFFFFFF)",
        "Wait until the lanes named in `mask` have come; what each wrote before is seen by all.",
    ),
    "threadfence": (
        "threadfence()",
        "What this thread wrote before is seen by the device before what it writes after.",
    ),
    "threadfence_block": (
        "threadfence_block()",
        "What this thread wrote before is seen by its block before what it writes after.",
    ),
    "threadfence_system": (
        "threadfence_system()",
        (
            "What this thread wrote before is seen by all devices and the host before what it "
            "writes after."
        ),
    ),
    "shfl_sync": ("shfl_sync(mask, value, src_lane)", "`value` of lane `src_lane`." + _WARP),
    "shfl_up_sync": (
        "shfl_up_sync(mask, value, delta)",
        "`value` of the lane `delta` below this one, its own where there is none." + _WARP,
    ),
    "shfl_down_sync": (
        "shfl_down_sync(mask, value, delta)",
        "`value` of the lane `delta` above this one, its own where there is none." + _WARP,
    ),
    "shfl_xor_sync": (
        "shfl_xor_sync(mask, value, lane_mask)",
        "`value` of the lane whose number is this one's exclusive-or `lane_mask`." + _WARP,
    ),
    "all_sync": ("all_sync(mask, predicate)", "Whether `predicate` holds in every lane." + _WARP),
    "any_sync": ("any_sync(mask, predicate)", "Whether `predicate` holds in any lane." + _WARP),
    "eq_sync": ("eq_sync(mask, predicate)", "Whether `predicate` is alike in all lanes." + _WARP),
    "ballot_sync": (
        "ballot_sync(mask, predicate)",
        "An int32 with bit i set where `predicate` holds in lane i." + _WARP,
    ),
    "match_any_sync": (
        "match_any_sync(mask, value)",
        "An int32 that names the lanes whose `value` equals this one's." + _WARP,
    ),
    "match_all_sync": (
        "match_all_sync(mask, value)",
        "(`mask`, True) if `value` is alike in all lanes, else (0, False)." + _WARP,
    ),
    "activemask": ("activemask()", "A uint32 that names the lanes running here together."),
    "lanemask_lt": ("lanemask_lt()", "A uint32 that names the lanes below this one."),
    "popc": ("popc(x)", "How many bits of the integer `x` are set."),
    "clz": ("clz(x)", "How many zero bits stand above the highest set bit of `x`."),
    "ffs": ("ffs(x)", "Position of the lowest set bit of `x`, from 1; 0 if none is set."),
    "brev": ("brev(x)", "The bits of the unsigned integer `x` in reverse order."),
    "cbrt": ("cbrt(x)", "The cube root of the float `x`."),
    "fma": ("fma(a, b, c)", "a * b + c, rounded once."),
    "selp": ("selp(test, a, b)", "`a` where `test` is not 0, else `b`; both are evaluated."),
    "nanosleep": ("nanosleep(ns)", "Let this thread rest for about `ns` nanoseconds."),
    "cp_async": (
        "cp_async(dst, dst_index, src, src_index, count=1)",
        (
            "This thread begins to copy `count` elements, 4, 8 or 16 bytes in all, from the global "
            "array `src` to the shared array `dst`. Indices are integers or tuples of integers and "
            "never count from the end; `count` is a literal or a global constant."
        ),
    ),
    "cp_async_commit_group": (
        "cp_async_commit_group()",
        "Close the group of copies that this thread has begun since the last commit.",
    ),
    "cp_async_wait_group": (
        "cp_async_wait_group(n)",
        (
            "Wait until at most `n` of this thread's newest groups are still copying. `n` is a "
            "literal or a global constant. Other threads see the copies after a barrier."
        ),
    ),
    "cp_async_wait_all": (
        "cp_async_wait_all()",
        (
            "Wait until all copies of this thread are done, committed or not. Other threads see "
            "them after a barrier."
        ),
    ),
    "copy_dram_to_sram_async": (
        "copy_dram_to_sram_async(dst, src, start, count, width=1)",
        (
            "All threads of the block begin to set dst[j] = src[start + j] for 0 <= j < `count`; "
            "elements outside `src` arrive as zero. Thread t copies elements t * width and on, "
            "then those one block of threads further. It does not commit. `count` and `width` are"
            "literals or global constants."
        ),
    ),
    "async_copy_wait_all": (
        "async_copy_wait_all()",
        "Wait until all copies of this thread are done. Other threads see them after a barrier.",
    ),
}

CACHE_HINTS: dict[str, tuple[str, str]] = {
    name: (f"{name}(array, i)", f"array[i], loaded with the cache operator .{name[2:]}.")
    for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
} | {
    name: (f"{name}(array, i, value)", f"array[i] = value with the cache operator .{name[2:]}.")
    for name in ("stcg", "stcs", "stwb", "stwt")
}

_OLD = " Returns the old value."


def _atomic(name: str, effect: str) -> tuple[str, str]:
    return f"atomic.{name}(array, index, value)", effect + _OLD


ATOMICS: dict[str, tuple[str, str]] = {
    "add": _atomic("add", "array[index] += value."),
    "sub": _atomic("sub", "array[index] -= value."),
    "and_": _atomic("and_", "array[index] &= value, for integers of 32 or 64 bits."),
    "or_": _atomic("or_", "array[index] |= value, for integers of 32 or 64 bits."),
    "xor": _atomic("xor", "array[index] ^= value, for integers of 32 or 64 bits."),
    "inc": _atomic("inc", "array[index] += 1, or 0 once it is `value`; unsigned integers."),
    "dec": _atomic("dec", "array[index] -= 1, or `value` if 0 or above it; unsigned integers."),
    "exch": _atomic("exch", "array[index] = value, for integers of 32 or 64 bits."),
    "max": _atomic("max", "The larger of array[index] and value is stored."),
    "min": _atomic("min", "The smaller of array[index] and value is stored."),
    "nanmax": _atomic("nanmax", "As max; a NaN counts as missing."),
    "nanmin": _atomic("nanmin", "As min; a NaN counts as missing."),
    "compare_and_swap": (
        "atomic.compare_and_swap(array, old, value)",
        "array[0] = value if it equals `old`; one-dimensional integer arrays." + _OLD,
    ),
    "cas": (
        "atomic.cas(array, index, old, value)",
        "array[index] = value if it equals `old`; integers of 32 or 64 bits." + _OLD,
    ),
}

VECTOR_BASES = (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
)  # fmt: skip
VECTOR_ALIASES = {
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long longlong",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulong ulonglong",
    "float32": "float",
    "float64": "double",
}

LIBDEVICE: dict[str, str] = {
    "(dd):d": "modf sincos sincospi",
    "(di):d": "frexp",
    "(di):dd": "remquo",
    "(ff):f": "fast_sincosf modff sincosf sincospif",
    "(fi):f": "frexpf",
    "(fi):ff": "remquof",
    "d:d": (
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi drcp_rd drcp_rn drcp_ru "
        "drcp_rz dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz erf erfc erfcinv erfcx erfinv exp exp10 "
        "exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf "
        "normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1"
    ),
    "d:dd": (
        "atan2 copysign dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd "
        "dmul_rn dmul_ru dmul_rz fdim fmax fmin fmod hypot nextafter pow remainder"
    ),
    "d:ddd": "fma fma_rd fma_rn fma_ru fma_rz",
    "d:di": "ldexp powi scalbn",
    "d:i": "int2double_rn uint2double_rn",
    "d:id": "jn yn",
    "d:ii": "hiloint2double",
    "d:l": (
        "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double ull2double_rd "
        "ull2double_rn ull2double_ru ull2double_rz"
    ),
    "f:d": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "f:f": (
        "acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif erfcf erfcinvf "
        "erfcxf erff erfinvf exp10f exp2f expf expm1f fabsf fast_cosf fast_exp10f fast_expf "
        "fast_log10f fast_log2f fast_logf fast_sinf fast_tanf floorf frcp_rd frcp_rn frcp_ru "
        "frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz j0f j1f lgammaf log10f log1pf "
        "log2f logbf logf nearbyintf normcdff normcdfinvf rcbrtf rintf roundf rsqrtf saturatef "
        "sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f"
    ),
    "f:ff": (
        "atan2f copysignf fadd_rd fadd_rn fadd_ru fadd_rz fast_fdividef fast_powf fdimf fdiv_rd "
        "fdiv_rn fdiv_ru fdiv_rz fmaxf fminf fmodf fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd "
        "fsub_rn fsub_ru fsub_rz hypotf nextafterf powf remainderf"
    ),
    "f:fff": "fmaf fmaf_rd fmaf_rn fmaf_ru fmaf_rz",
    "f:fi": "ldexpf powif scalbnf",
    "f:h": "half2float",
    "f:i": (
        "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float uint2float_rd "
        "uint2float_rn uint2float_ru uint2float_rz"
    ),
    "f:if": "jnf ynf",
    "f:l": (
        "ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn ull2float_ru "
        "ull2float_rz"
    ),
    "h:f": "float2half_rn",
    "i:d": (
        "double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint "
        "double2uint_rd double2uint_rn double2uint_ru double2uint_rz ilogb isfinited isinfd "
        "isnand signbitd"
    ),
    "i:f": (
        "finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd "
        "float2uint_rn float2uint_ru float2uint_rz float_as_int ilogbf isinff isnanf signbitf"
    ),
    "i:i": "abs brev clz ffs popc",
    "i:ii": "hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd",
    "i:iii": "byte_perm sad usad",
    "i:l": "clzll ffsll popcll",
    "l:d": (
        "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn "
        "double2ull_ru double2ull_rz double_as_longlong llrint llround"
    ),
    "l:f": (
        "float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru "
        "float2ull_rz llrintf llroundf"
    ),
    "l:l": "brevll llabs",
    "l:ll": "llmax llmin mul64hi ullmax ullmin umul64hi",
}

FLOAT16: dict[str, str] = {
    "?:e": "__hisnan",
    "?:ee": (
        "__heq heq __hne hne __hle hle __hge hge __hlt hlt __hgt hgt __hequ __hneu __hleu "
        "__hgeu __hltu __hgtu"
    ),
    "B:e": "__half2uchar_rz",
    "H:e": "__half2ushort_rz __half2ushort_rn __half2ushort_rd __half2ushort_ru __half_as_ushort",
    "I:e": "__half2uint_rz __half2uint_rn __half2uint_rd __half2uint_ru",
    "L:e": "__half2ull_rz __half2ull_rn __half2ull_rd __half2ull_ru",
    "b:e": "__half2char_rz",
    "e:H": "__ushort2half_rn __ushort2half_rz __ushort2half_rd __ushort2half_ru __ushort_as_half",
    "e:I": "__uint2half_rn __uint2half_rz __uint2half_rd __uint2half_ru",
    "e:L": "__ull2half_rn __ull2half_rz __ull2half_rd __ull2half_ru",
    "e:d": "__double2half",
    "e:e": (
        "htrunc hceil hfloor hrint __habs habs __hneg hneg hsqrt hrsqrt hrcp hlog hlog2 hlog10 "
        "hexp htanh_approx htanh hexp2 hexp10 hcos hsin"
    ),
    "e:ee": (
        "__hmax hmax __hmin hmin __hadd hadd __hsub hsub __hmul hmul __hadd_rn __hsub_rn "
        "__hmul_rn __hdiv hdiv __hadd_sat __hsub_sat __hmul_sat __hmax_nan __hmin_nan"
    ),
    "e:eee": "__hfma hfma __hfma_sat __hfma_relu",
    "e:f": "__float2half __float2half_rn __float2half_rz __float2half_rd __float2half_ru",
    "e:h": "__short2half_rn __short2half_rz __short2half_rd __short2half_ru __short_as_half",
    "e:i": "__int2half_rn __int2half_rz __int2half_rd __int2half_ru",
    "e:l": "__ll2half_rn __ll2half_rz __ll2half_rd __ll2half_ru",
    "f:e": "__half2float",
    "h:e": "__half2short_rz __half2short_rn __half2short_rd __half2short_ru __half_as_short",
    "i:e": "__half2int_rz __half2int_rn __half2int_rd __half2int_ru __hisinf",
    "l:e": "__half2ll_rz __half2ll_rn __half2ll_rd __half2ll_ru",
}
