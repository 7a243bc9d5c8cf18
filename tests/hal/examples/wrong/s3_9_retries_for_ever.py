"""MUST GET: RecursionError. §3.9: collects nothing, and calls itself again, without end."""

import wia_lab.hal as wia


def safe_compute(context):
    """As the document writes it."""
    try:
        context.allocate("2MiB")
    except wia.OutOfMemory:
        # wia_memory_gc(ctx) finds nothing: all that is held is still referred to.
        return safe_compute(context)
    return wia.ErrorCode.SUCCESS


def run():
    """The memory is held by somebody who will not let go."""
    config = wia.ContextConfig(memory_limit="3MiB")
    with wia.Context(wia.open_machine("1xA100")[0], config) as context:
        held = context.allocate("2MiB")
        safe_compute(context)
        return held
