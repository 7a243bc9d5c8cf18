"""wia_lab: a workbook that teaches accelerator memory, with the simulator that judges it."""
