"""Data sheets: what NVIDIA states, and what follows from it."""

from __future__ import annotations

import pytest

from wia_lab import machines
from wia_lab.machines import DEVICES, LINKS, UnknownMachine


class TestDevices:
    """The catalogue of GPUs."""

    @pytest.mark.parametrize("sheet", DEVICES.values(), ids=lambda sheet: sheet.name)
    def test_float32_rate_follows_from_the_units(self, sheet) -> None:
        """Rate = multiprocessors × lanes × 2 × clock; 64 lanes up to 8.0, 128 after; 9.0 has 128.

        Source: "Arithmetic Instructions" in the CUDA C++ programming guide.
        """
        lanes = 64 if sheet.compute_capability in ((7, 0), (7, 5), (8, 0)) else 128
        assert sheet.float32_rate == pytest.approx(
            sheet.multiprocessors * lanes * 2 * sheet.clock, rel=0.02
        )

    @pytest.mark.parametrize(
        ("capability", "shared", "optin", "threads", "blocks"),
        [
            ((7, 0), 96, 96, 2048, 32),
            ((7, 5), 64, 64, 1024, 16),
            ((8, 0), 164, 163, 2048, 32),
            ((8, 6), 100, 99, 1536, 16),
            ((8, 9), 100, 99, 1536, 24),
            ((9, 0), 228, 227, 2048, 32),
        ],
    )
    def test_technical_specifications(self, capability, shared, optin, threads, blocks) -> None:
        """Limits are those of the programming guide's table for the compute capability."""
        sheets = [each for each in DEVICES.values() if each.compute_capability == capability]
        assert sheets
        for sheet in sheets:
            assert sheet.shared_per_multiprocessor == shared * 1024
            assert sheet.shared_per_block_optin == optin * 1024
            assert sheet.threads_per_multiprocessor == threads
            assert sheet.blocks_per_multiprocessor == blocks

    def test_async_copy(self) -> None:
        """cp.async begins with 8.0, the bulk copy engine with 9.0."""
        assert [name for name, each in DEVICES.items() if not each.has_async_copy] == ["V100", "T4"]
        assert [name for name, each in DEVICES.items() if each.has_bulk_copy] == ["H100", "H200"]

    def test_every_link_exists(self) -> None:
        """The links that a device names are in the catalogue."""
        for sheet in DEVICES.values():
            assert sheet.pcie in LINKS
            assert sheet.nvlink is None or sheet.nvlink in LINKS

    def test_names_are_forgiving(self) -> None:
        """Case and spaces do not matter."""
        assert machines.device("rtx4090") is DEVICES["RTX 4090"]
        assert machines.link("nvlink 4") is LINKS["NVLink 4"]

    def test_unknown_name(self) -> None:
        """An unknown device is refused with its nearest neighbours."""
        with pytest.raises(UnknownMachine, match=r"no device is called 'H300': choose H[12]00"):
            machines.device("H300")
