"""MUST GET: AccessRefused, 'which the caller does not place'. §4.3: advises what places itself."""

import wia_lab.hal as wia


def run():
    """UNIFIED takes advice, MANAGED is the library's to place."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    context.allocate(64, wia.MemoryKind.MANAGED).advise(wia.Advice.PREFERRED_LOCATION)
