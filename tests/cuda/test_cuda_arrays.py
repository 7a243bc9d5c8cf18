"""Device arrays and host functions on the simulator, against NumPy and numba-cuda's rules."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from wia_lab import cuda
from wia_lab.cuda.arrays import DeviceNDArray
from wia_lab.cuda.errors import CudaAPIError, NotOnSimulatorError

GRID = np.arange(12, dtype=np.float32).reshape(3, 4)


class TestCopies:
    """The host sees device memory through copies alone."""

    def test_round_trip(self):
        device = cuda.to_device(GRID)
        back = device.copy_to_host()
        assert back.tolist() == GRID.tolist()
        back[:] = 0
        assert device.copy_to_host().tolist() == GRID.tolist()

    def test_to_device_copies(self):
        host = GRID.copy()
        device = cuda.to_device(host)
        host[:] = -1
        assert device[2, 3] == 11

    def test_into_existing(self):
        device, host = cuda.to_device(GRID), np.empty_like(GRID)
        assert device.copy_to_host(host) is host
        assert host.tolist() == GRID.tolist()

    def test_device_to_device(self):
        source, target = cuda.to_device(GRID), cuda.device_array_like(GRID)
        target.copy_to_device(source)
        source[:] = 0
        assert target.copy_to_host().tolist() == GRID.tolist()

    def test_to_device_into(self):
        target = cuda.device_array((3, 4), np.float32)
        assert cuda.to_device(GRID, to=target) is target
        assert target[1, 1] == 5

    def test_without_copy_it_is_undefined(self):
        """New device memory holds poison, never the zeros that hide a missing write."""
        device = cuda.to_device(np.zeros(4, np.int32), copy=False)
        assert set(device.copy_to_host().view(np.uint8).tolist()) == {0xFB}
        assert 0 not in cuda.device_array(4, np.float32).copy_to_host()

    def test_numpy_takes_a_copy(self):
        device = cuda.to_device(GRID)
        assert np.asarray(device).sum() == 66
        with pytest.raises(ValueError, match="copy=False"):
            np.asarray(device, copy=False)

    def test_fortran_order_is_kept(self):
        device = cuda.to_device(np.asfortranarray(GRID))
        assert device.strides == (4, 12)
        assert device.is_f_contiguous()
        assert device.copy_to_host().tolist() == GRID.tolist()

    def test_record(self):
        kind = np.dtype([("x", np.int32), ("y", np.float64)])
        device = cuda.to_device(np.array([(1, 2.5)], kind))
        assert device.copy_to_host()["y"].tolist() == [2.5]

    def test_list_and_number(self):
        assert cuda.to_device([1.0, 2.0]).dtype == np.float64
        assert cuda.to_device(3.0).shape == ()


class TestRefused:
    """What the driver cannot do is refused, with what to do instead."""

    def test_gaps(self):
        with pytest.raises(ValueError, match="not contiguous"):
            cuda.to_device(GRID[:, ::2])

    def test_dtype(self):
        with pytest.raises(TypeError, match="incompatible dtype: the device array has float32"):
            cuda.to_device(GRID).copy_to_device(GRID.astype(np.float64))

    def test_shape(self):
        with pytest.raises(ValueError, match="incompatible shape"):
            cuda.to_device(GRID).copy_to_host(np.empty(12, np.float32))

    def test_fancy_index(self):
        with pytest.raises(NotImplementedError, match="integers and slices"):
            cuda.to_device(GRID)[[0, 2]]

    def test_reshape_that_copies(self):
        with pytest.raises(NotImplementedError, match="operation requires copying"):
            cuda.to_device(GRID)[:, :2].ravel()

    def test_negative_strides(self):
        with pytest.raises(NotImplementedError, match="negative strides"):
            cuda.to_device(GRID)[::-1].copy_to_host()

    def test_three_dimensions_transposed(self):
        with pytest.raises(NotImplementedError, match="has 3 dimensions"):
            _ = cuda.device_array((2, 2, 2)).T

    def test_out_of_memory(self):
        total = cuda.current_context().get_memory_info().total
        with pytest.raises(CudaAPIError, match="CUDA_ERROR_OUT_OF_MEMORY"):
            cuda.current_context().claim(total + 1)

    def test_shape_of_floats(self):
        with pytest.raises(TypeError, match="integer or a tuple of integers"):
            cuda.device_array(2.5)

    def test_another_device(self):
        assert cuda.select_device(0).id == 0
        with pytest.raises(CudaAPIError, match="CUDA_ERROR_INVALID_DEVICE"):
            cuda.select_device(1)

    def test_real_device_memory(self):
        class OnGpu:
            __cuda_array_interface__ = {"shape": (1,)}

        with pytest.raises(NotOnSimulatorError, match="lives on a GPU"):
            cuda.as_cuda_array(OnGpu())
        with pytest.raises(TypeError, match="cuda array interface"):
            cuda.as_cuda_array(GRID)


class TestViews:
    """Slices, reshapes and reinterpretations share the memory."""

    def test_slice_shares(self):
        device = cuda.to_device(GRID)
        device[1, 1:3] = 100
        assert device[1].copy_to_host().tolist() == [4, 100, 100, 7]
        assert isinstance(device[1], DeviceNDArray)

    def test_element_is_a_number(self):
        assert cuda.to_device(GRID)[2, 3] == np.float32(11)

    def test_broadcast_assignment(self):
        device = cuda.to_device(GRID)
        device[:] = np.array([1, 2, 3, 4], np.float32)
        assert device.copy_to_host().tolist() == [[1, 2, 3, 4]] * 3
        with pytest.raises(ValueError, match="broadcast"):
            device[:] = np.zeros(5, np.float32)

    def test_reshape_and_ravel(self):
        device = cuda.to_device(GRID)
        device.ravel()[5] = -5
        assert device.reshape(4, 3)[1, 2] == -5
        assert device.reshape((2, 6)).shape == (2, 6)

    def test_transpose_copies(self):
        device = cuda.to_device(GRID)
        turned = device.T
        device[0, 1] = 50
        assert turned.copy_to_host().tolist() == GRID.T.tolist()

    def test_view_and_split(self):
        device = cuda.to_device(np.arange(4, dtype=np.float32))
        assert device.view(np.int32)[1] == 0x3F800000
        assert [each.shape for each in device.split(3)] == [(3,), (1,)]

    def test_iteration_and_length(self):
        device = cuda.to_device(GRID)
        assert len(device) == 3
        assert [row[0] for row in device] == [0, 4, 8]

    def test_interface(self):
        """Addresses are apart by the offset of the view, and none is an address of the host."""
        device = cuda.to_device(GRID)
        whole, row = device.__cuda_array_interface__, device[1].__cuda_array_interface__
        assert row["data"][0] - whole["data"][0] == 16
        assert whole["data"][0] % 256 == 0
        assert whole["data"][0] >= 1 << 63
        assert whole["strides"] is None
        assert cuda.is_cuda_array(device)
        assert cuda.as_cuda_array(device) is device


class TestMemory:
    """Device memory is counted."""

    def test_claimed_and_released(self):
        before = cuda.current_context().get_memory_info()
        device = cuda.device_array(1000, np.float64)
        view = device[500:]
        assert before.free - cuda.current_context().get_memory_info().free == 8000
        del device
        gc.collect()
        assert before.free - cuda.current_context().get_memory_info().free == 8000
        del view
        gc.collect()
        assert cuda.current_context().get_memory_info() == before

    def test_total_is_the_devices(self, monkeypatch):
        assert cuda.current_context().get_memory_info().total == 141 * 10**9
        monkeypatch.setenv("WIA_LAB_DEVICE", "T4")
        assert cuda.get_current_device().compute_capability == (7, 5)
        assert cuda.current_context().get_memory_info().total == 16 * 2**30

    def test_devices(self, capsys):
        assert len(cuda.gpus) == 1
        assert cuda.list_devices()[0] == cuda.get_current_device()
        assert cuda.get_current_device().name == "H200"
        assert cuda.detect()
        assert "1/1 devices are simulated" in capsys.readouterr().out
        assert cuda.is_available()


class TestHostMemory:
    """Pinned, mapped and managed arrays are NumPy arrays."""

    @pytest.mark.parametrize(
        "make", [cuda.pinned_array, cuda.mapped_array, cuda.managed_array], ids=lambda f: f.__name__
    )
    def test_is_a_numpy_array(self, make):
        array = make((2, 3), np.int16, order="F")
        assert isinstance(array, np.ndarray)
        assert (array.shape, array.dtype, array.strides) == ((2, 3), np.int16, (2, 4))
        array[:] = 7
        assert array.sum() == 42

    def test_like(self):
        turned = np.asfortranarray(GRID)
        assert cuda.pinned_array_like(turned).strides == turned.strides
        assert cuda.mapped_array_like(GRID).shape == GRID.shape
        assert cuda.device_array_like(cuda.to_device(GRID)).dtype == np.float32

    def test_pinned_block(self):
        with cuda.pinned(GRID), pytest.raises(ValueError, match="not contiguous"):
            cuda.pinned(GRID[:, ::2]).__enter__()

    def test_mapped_block_shares(self):
        host = GRID.copy()
        with cuda.mapped(host) as device:
            device[0, 0] = 99
        assert host[0, 0] == 99

    def test_nothing_to_do(self):
        cuda.profile_start()
        cuda.profile_stop()
        with cuda.profiling(), cuda.defer_cleanup():
            cuda.synchronize()
        cuda.close()
