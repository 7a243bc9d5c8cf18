"""Which back end is chosen, and what is said about it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wia_lab import cuda
from wia_lab.cuda import choice
from wia_lab.cuda.errors import BackendError
from wia_lab.settings import SettingError


@pytest.fixture
def machine(monkeypatch):
    """Pretend what the machine has: a driver, numba-cuda, a GPU that it sees."""

    def pretend(*, driver, installed, sees=False):
        choice._choose.cache_clear()
        monkeypatch.delenv("WIA_LAB_BACKEND", raising=False)
        monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
        monkeypatch.setattr(choice, "_driver_present", lambda: driver)
        monkeypatch.setattr(choice, "numba_cuda_installed", lambda: installed)

        class Numba:
            @staticmethod
            def is_available():
                if isinstance(sees, Exception):
                    raise sees
                return bool(sees)

            @staticmethod
            def get_current_device():
                return type("Device", (), {"name": sees})

        monkeypatch.setattr(choice, "numba_cuda", lambda: Numba)

    yield pretend
    choice._choose.cache_clear()


class TestChoice:
    """Hardware where both the package and a GPU are there, else the simulator."""

    def test_hardware(self, machine):
        machine(driver=True, installed=True, sees="NVIDIA H200")
        found = cuda.describe_backend()
        assert found.backend == "hardware"
        assert found.reason == "numba-cuda sees NVIDIA H200"
        assert cuda.backend == "hardware"

    def test_no_driver(self, machine):
        machine(driver=False, installed=True)
        assert cuda.describe_backend() == (
            "simulator",
            "no NVIDIA driver was found",
            "nothing to install: the simulator needs no GPU",
        )

    def test_no_package(self, machine):
        """A GPU without numba-cuda: the advice names the extra to install."""
        machine(driver=True, installed=False)
        found = cuda.describe_backend()
        assert found.backend == "simulator"
        assert 'pip install "wia-lab[cuda13]"' in found.advice

    def test_no_gpu(self, machine):
        machine(driver=True, installed=True, sees=False)
        assert cuda.describe_backend().reason == "numba-cuda finds no CUDA GPU that it can use"

    def test_broken_package(self, machine):
        machine(driver=True, installed=True, sees=OSError("libnvvm.so is missing"))
        assert "libnvvm.so is missing" in cuda.describe_backend().reason

    def test_numbas_own_simulator(self, machine, monkeypatch):
        machine(driver=True, installed=True, sees="NVIDIA H200")
        monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
        found = cuda.describe_backend()
        assert (found.backend, found.advice) == ("simulator", "unset NUMBA_ENABLE_CUDASIM")


class TestOverride:
    """`WIA_LAB_BACKEND` decides."""

    def test_simulator(self, machine, monkeypatch):
        machine(driver=True, installed=True, sees="NVIDIA H200")
        monkeypatch.setenv("WIA_LAB_BACKEND", "simulator")
        assert cuda.backend == "simulator"
        assert cuda.describe_backend().reason == "WIA_LAB_BACKEND asks for it"

    def test_hardware_that_is_not_there(self, machine, monkeypatch):
        """No silent fallback: one sentence says what is missing."""
        machine(driver=False, installed=False)
        monkeypatch.setenv("WIA_LAB_BACKEND", "hardware")
        with pytest.raises(BackendError) as caught:
            _ = cuda.backend
        assert str(caught.value) == (
            "WIA_LAB_BACKEND asks for hardware, but no NVIDIA driver was found: unset "
            "WIA_LAB_BACKEND to use the simulator, or install NVIDIA's driver on a machine with "
            "its GPU"
        )
        assert caught.value.exit_code == 3

    def test_bad_value(self, monkeypatch):
        monkeypatch.setenv("WIA_LAB_BACKEND", "gpu")
        with pytest.raises(SettingError, match="WIA_LAB_BACKEND is 'gpu': set it to one of"):
            _ = cuda.backend


class TestNames:
    """numba.cuda's names, and nothing else."""

    def test_importing_does_not_import_numba_cuda(self):
        """On a machine without numba-cuda, neither importing nor allocating touches numba.cuda."""
        code = (
            "import sys; from wia_lab import cuda; cuda.to_device([1.0]); cuda.stream(); "
            "print('numba.cuda' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "False"

    @pytest.mark.parametrize("name", cuda.__all__)
    def test_all_is_there(self, name):
        assert getattr(cuda, name) is not None

    def test_misspelt(self):
        with pytest.raises(AttributeError, match="did you mean 'device_array'"):
            _ = cuda.device_arry

    def test_hardware_only(self):
        with pytest.raises(AttributeError, match="needs a GPU"):
            _ = cuda.set_memory_manager
