"""`cuda.jit` in all its forms, and launches on the simulator, against NumPy."""

from __future__ import annotations

import warnings

import numba
import numpy as np
import pytest
from numba import float32, int32, njit, void

from wia_lab import cuda, hazards
from wia_lab.cuda import options
from wia_lab.cuda.arguments import In, InOut, Out
from wia_lab.cuda.errors import BackendError, CudaAPIError, NotOnSimulatorError
from wia_lab.errors import HazardError, HazardWarning

A = np.arange(100, dtype=np.float32)
installed = cuda.choice.numba_cuda_installed()


@cuda.jit
def double(out, a):
    """Each element twice."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + a[i]


@cuda.jit
def unguarded(out):
    """One a thread, with no guard."""
    out[cuda.grid(1)] = 1


def doubled(kernel, a=A):
    """Whether `kernel` doubles."""
    out = np.full_like(a, -1)
    kernel[4, 32](out, a)
    return out.tolist() == (2 * a).tolist()


class TestForms:
    """Every spelling of the decorator makes the same kernel."""

    @pytest.mark.parametrize(
        "decorate",
        [
            cuda.jit,
            cuda.jit(),
            cuda.jit(fastmath=True),
            cuda.jit("void(float32[:], float32[:])"),
            cuda.jit("(float32[:], float32[:])"),
            cuda.jit(void(float32[:], float32[:])),
            cuda.jit((float32[:], float32[:])),
            cuda.jit(["void(int32[:], int32[:])", (float32[::1], float32[::1])]),
            cuda.jit(debug=True, opt=False),
            cuda.jit(lineinfo=True, cache=True, max_registers=32, lto=False, inline="always"),
            cuda.jit(launch_bounds=(128, 4), shared_memory_carveout="MaxL1", forceinline=True),
            lambda function: cuda.jit(njit(function)),
        ],
    )
    def test_form(self, decorate):
        assert doubled(decorate(double.py_func))

    def test_wraps_the_function(self):
        assert double.__name__ == "double"
        assert double.py_func.__name__ == "double"
        assert repr(double) == "<Kernel double>"

    def test_twice(self):
        with pytest.raises(TypeError, match="decorate it once"):
            cuda.jit(double)

    def test_no_function(self):
        with pytest.raises(TypeError, match="compiles Python functions"):
            cuda.jit(print)

    def test_method(self):
        """A kernel in a class body is called through its class, as in numba-cuda."""

        class Holder:
            kernel = double

        assert doubled(Holder.kernel)


class TestSignatures:
    """Explicit signatures convert numbers and refuse what does not fit."""

    def test_number_is_converted(self):
        @cuda.jit("void(float64[:], int32)")
        def thirds(out, n):
            out[cuda.threadIdx.x] = n / 4

        out = np.zeros(2)
        thirds[1, 2](out, 7)
        assert out.tolist() == [1.75, 1.75]
        assert thirds.specialized

    def test_no_match(self):
        kernel = cuda.jit("void(float32[:], float32[:])")(double.py_func)
        with pytest.raises(TypeError, match="No matching definition for argument type"):
            kernel[1, 32](np.zeros(4), A)

    def test_first_match_of_several(self):
        kernel = cuda.jit([void(int32[:], int32[:]), void(float32[:], float32[:])])(double.py_func)
        assert not kernel.specialized
        assert doubled(kernel)
        assert doubled(kernel, A.astype(np.int32))

    def test_wrong_length(self):
        with pytest.raises(TypeError, match="double takes 2 arguments, but the signature"):
            cuda.jit("void(float32[:])")(double.py_func)

    def test_return_type(self):
        with pytest.raises(TypeError, match="CUDA kernel must have void return type"):
            cuda.jit("float32(float32[:], float32[:])")(double.py_func)

    @pytest.mark.parametrize("thing", [42, 1.5, {"device": True}])
    def test_neither_function_nor_signature(self, thing):
        with pytest.raises(TypeError, match="give a function, or a signature such as"):
            cuda.jit(thing)

    def test_unreadable(self):
        with pytest.raises(TypeError, match="'void\\(float33\\)' is not a signature"):
            cuda.jit("void(float33)")(double.py_func)

    def test_specialize(self):
        kernel = double.specialize(A, A)
        assert doubled(kernel)
        with pytest.raises(RuntimeError, match="already specialized"):
            kernel.specialize(A, A)


class TestOptions:
    """No option is taken and dropped."""

    def test_each_has_a_meaning(self):
        assert all(text and text[-1] != "." for text in options.MEANING.values())

    @pytest.mark.parametrize(
        ("given", "kind", "text"),
        [
            ({"fastmaths": True}, TypeError, "did you mean 'fastmath'"),
            ({"boundscheck": True}, NotImplementedError, "always checks bounds"),
            ({"device": True, "link": ["a.cu"]}, ValueError, "link is invalid"),
            ({"fastmath": "yes"}, TypeError, "fastmath is 'yes': give True or False"),
            ({"debug": 2}, TypeError, "debug is 2: give True or False"),
            ({"device": "yes"}, TypeError, "device is 'yes': give True or False"),
            ({"inline": "sometimes"}, TypeError, "give 'never', 'always'"),
            ({"max_registers": 0}, ValueError, "max_registers is 0: give 1 to 255"),
            ({"max_registers": "32"}, ValueError, "max_registers is '32': give 1 to 255"),
            ({"launch_bounds": -1}, ValueError, "launch_bounds is -1: give the most threads"),
            ({"launch_bounds": (64, 1, 1, 1)}, ValueError, "give the most threads"),
            ({"shared_memory_carveout": "most"}, ValueError, "-1 to 100"),
            ({"shared_memory_carveout": 101}, ValueError, "-1 to 100"),
            ({"shared_memory_carveout": 1.5}, TypeError, "string or an integer"),
        ],
    )
    def test_refused(self, given, kind, text):
        with pytest.raises(kind, match=text):
            cuda.jit(**given)(double.py_func)

    @pytest.mark.parametrize("option", ["link", "extensions"])
    def test_refused_on_the_simulator(self, option):
        kernel = cuda.jit(**{option: ["code.ptx"]})(double.py_func)
        with pytest.raises(NotOnSimulatorError, match=f"has the option {option}"):
            kernel[1, 32](A.copy(), A)

    def test_launch_bounds(self):
        kernel = cuda.jit(launch_bounds=64)(double.py_func)
        kernel[2, 64](A.copy(), A)
        with pytest.raises(CudaAPIError, match="launch_bounds of 64"):
            kernel[1, 65](A.copy(), A)


class TestLaunch:
    """Arrays of host and device, numbers, tuples, streams."""

    def test_device_arrays(self):
        out = cuda.device_array_like(A)
        double[4, 32](out, cuda.to_device(A))
        assert out.copy_to_host().tolist() == (2 * A).tolist()

    def test_view_of_a_device_array(self):
        device = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
        double[1, 32](device[1], device[2])
        assert device.copy_to_host().tolist() == [[0, 1, 2, 3], [16, 18, 20, 22], [8, 9, 10, 11]]

    @pytest.mark.parametrize("make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array])
    def test_host_memory(self, make):
        out = make(100, np.float32)
        double[4, 32](out, A)
        cuda.synchronize()
        assert out.tolist() == (2 * A).tolist()

    def test_stream_and_shared_bytes(self):
        @cuda.jit
        def through_shared(out):
            tile = cuda.shared.array(0, int32)
            tile[cuda.threadIdx.x] = cuda.threadIdx.x
            cuda.syncthreads()
            out[cuda.threadIdx.x] = tile[7 - cuda.threadIdx.x]

        stream, out = cuda.stream(), np.zeros(8, np.int32)
        through_shared[1, 8, stream, 32](out)
        stream.synchronize()
        assert out.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]

    def test_configure(self):
        out = np.zeros_like(A)
        double.configure((4, 1), [32])(out, A)
        assert out[99] == 198

    def test_forall(self):
        out = np.zeros(1000, np.float32)
        double.forall(1000)(out, np.ones(1000, np.float32))
        assert out.sum() == 2000
        double.forall(0)(None, None)

    def test_hints(self):
        """In is not copied back, Out not copied in, InOut both."""

        @cuda.jit
        def touch(out, a, b):
            i = cuda.grid(1)
            out[i] = a[i]
            a[i] = 9
            b[i] += 1

        out, a, b = np.zeros(4), np.arange(4.0), np.arange(4.0)
        touch[1, 4](Out(out), In(a), InOut(b))
        assert (out.tolist(), a.tolist(), b.tolist()) == ([0, 1, 2, 3], [0, 1, 2, 3], [1, 2, 3, 4])

    def test_out_starts_undefined(self):
        @cuda.jit
        def nothing(out):
            pass

        out = np.zeros(4, np.int32)
        nothing[1, 4](Out(out))
        assert 0 not in out

    def test_numba_cuda_inside_a_kernel(self):
        """A kernel that uses `from numba import cuda` runs too."""
        from numba import cuda as theirs

        @cuda.jit
        def count(out):
            out[theirs.grid(1)] = theirs.threadIdx.x

        out = np.zeros(4)
        count[1, 4](out)
        assert out.tolist() == [0, 1, 2, 3]

    def test_numba_spelt_out(self):
        """`numba.cuda.grid`, also where numba.cuda has not been imported."""

        @cuda.jit
        def count(out):
            out[numba.cuda.grid(1)] = numba.cuda.threadIdx.x

        out = np.zeros(4)
        count[1, 4](out)
        assert out.tolist() == [0, 1, 2, 3]

    def test_takes_simulated_time(self):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        double[4, 32](A.copy(), A)
        end.record()
        end.synchronize()
        assert begin.elapsed_time(end) > 0


class TestFrozen:
    """Globals are read when a kernel is first launched with given types, and never again."""

    def test_number_and_array(self):
        factor, table = 3, np.array([1.0, 2.0])

        @cuda.jit
        def scaled(out):
            out[cuda.threadIdx.x] = factor * table[cuda.threadIdx.x]

        out = np.zeros(2)
        scaled[1, 2](out)
        factor, table[0] = 5, 100.0
        scaled[1, 2](out)
        assert out.tolist() == [3, 6]
        narrow = np.zeros(2, np.float32)
        scaled[1, 2](narrow)
        assert narrow.tolist() == [500, 10]

    def test_device_function(self):
        step = 1

        @cuda.jit(device=True)
        def bump(x):
            return x + step

        @njit
        def twice(x):
            return bump(bump(x))

        @cuda.jit
        def bumped(out):
            out[0] = twice(out[0])

        out = np.zeros(1)
        bumped[1, 1](out)
        step = 10
        bumped[1, 1](out)
        assert out.tolist() == [4]


class TestArguments:
    """Each mistake is named with its parameter."""

    @pytest.mark.parametrize(
        ("args", "kind", "text"),
        [
            ((A,), TypeError, r"takes 2 arguments \(out, a\) and got 1: pass one for each"),
            ((A, A, A), TypeError, "and got 3"),
            ((A, [1.0, 2.0]), TypeError, "a is of type list.*np.array"),
            ((A, "x"), TypeError, "a is of type str"),
            ((A, object()), TypeError, "a is of type object"),
            ((A, A[::2]), ValueError, "a is a NumPy array.*not contiguous"),
            (((A, A[::2]), A), ValueError, r"out\[1\] is a NumPy array"),
        ],
    )
    def test_mistake(self, args, kind, text):
        with pytest.raises(kind, match=text):
            double[4, 32](*args)

    def test_device_function_on_the_host(self):
        device = cuda.jit(device=True)(lambda x: x)
        with pytest.raises(TypeError, match="only a kernel can call"):
            device(1)
        with pytest.raises(TypeError, match="cannot be launched"):
            device[1, 1]

    def test_typing_error(self):
        """What Numba refuses, the launch refuses in the same class."""

        @cuda.jit
        def wrong(out):
            out[0] = out.no_such_attribute

        with pytest.raises(Exception, match="no_such_attribute") as caught:
            wrong[1, 1](A.copy())
        assert caught.type.__name__ == "TypingError"

    @pytest.mark.skipif(installed, reason="numba-cuda is installed")
    def test_inspection_needs_numba_cuda(self):
        with pytest.raises(BackendError, match="numba-cuda is not installed"):
            double.inspect_asm()
        assert not hasattr(double, "no_such_thing")


class TestHazards:
    """A launch follows the policy."""

    def test_raises_after_the_grid_has_run(self):
        out = np.zeros(40, np.int32)
        with pytest.raises(HazardError, match=r"line \d+: .*out\[40\]") as caught:
            unguarded[2, 32](out)
        assert out.tolist() == [1] * 40
        assert caught.value.hazards[0].kind == "out-of-bounds"
        assert caught.value.report.counters.global_store_requests >= 2

    def test_warns_at_the_launch(self):
        with hazards("warn"), pytest.warns(HazardWarning) as heard:
            unguarded[2, 32](np.zeros(40, np.int32))
        assert heard[0].filename == __file__
        assert heard[0].message.hazard.kind == "out-of-bounds"

    def test_off(self):
        with hazards("off"), warnings.catch_warnings():
            warnings.simplefilter("error")
            unguarded.forall(64, 32)(np.zeros(40, np.int32))
