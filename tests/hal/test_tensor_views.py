"""Tensors: views of them, which copy nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wia_lab.hal as wia
from wia_lab import hazards
from wia_lab.hal.tensor_layout import Layout


@pytest.fixture
def context() -> Iterator[wia.Context]:
    """On an H100."""
    made = wia.Context(wia.open_machine("H100")[0])
    yield made
    with hazards("off"):
        made.close()


class TestViews:
    """Reshape, transpose, slice and indices share the buffer, and agree with NumPy."""

    @given(data=st.data())
    def test_indices(self, data: st.DataObject) -> None:
        shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
        index = data.draw(hnp.basic_indices(shape))
        array = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
        layout = Layout.contiguous(shape, array.dtype).indexed(index)
        low, high = layout.extent
        seen = layout.array(array.reshape(-1).view(np.uint8)[low:high])
        assert np.array_equal(seen, array[index])

    @given(data=st.data())
    def test_reshape(self, data: st.DataObject) -> None:
        """A view where NumPy makes one too; else the sentence that says what to do."""
        base = np.arange(2 * 3 * 4 * 5, dtype=np.int16).reshape(2, 3, 4, 5)
        axes = data.draw(st.permutations(range(4)))
        steps = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1]))) for _ in range(4))
        array = base.transpose(axes)[steps]
        factors = data.draw(st.permutations(_factors(array.size)))
        cut = data.draw(st.integers(0, len(factors)))
        shape = (*factors[:cut], int(np.prod(factors[cut:], dtype=int)))
        layout = Layout.contiguous(base.shape, base.dtype).transposed(axes).indexed(steps)
        expected = array.reshape(shape)
        if not np.shares_memory(expected, base):
            with pytest.raises(wia.InvalidValue, match="without a copy"):
                layout.reshaped(shape)
            return
        layout = layout.reshaped(shape)
        low, high = layout.extent
        assert np.array_equal(layout.array(base.reshape(-1).view(np.uint8)[low:high]), expected)

    def test_nothing_is_copied(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(24.0).reshape(2, 3, 4))
        in_use = context.memory_in_use
        views = [
            wia.reshape(tensor, (6, -1)),
            wia.transpose(tensor, (1, -1, 0)),
            wia.slice(tensor, (0, 1), (2, 3)),
            tensor[..., ::-2],
        ]
        assert all(view.buffer is tensor.buffer for view in views)
        assert context.memory_in_use == in_use
        whole = np.arange(24.0).reshape(2, 3, 4)
        for view, expected in zip(
            views,
            (whole.reshape(6, 4), whole.transpose(1, 2, 0), whole[:, 1:3], whole[..., ::-2]),
            strict=True,
        ):
            assert np.array_equal(view.numpy(), expected)

    def test_contiguous(self, context: wia.Context) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0).reshape(2, 3))
        turned = wia.transpose(tensor)
        assert not turned.is_contiguous
        copied = wia.contiguous(turned)
        assert copied.is_contiguous
        assert copied.buffer is not tensor.buffer
        assert wia.reshape(copied, 6).numpy().tolist() == [0, 3, 1, 4, 2, 5]
        assert wia.contiguous(tensor).buffer is tensor.buffer

    @pytest.mark.parametrize(
        ("attempt", "text"),
        [
            (lambda t: wia.reshape(t, (5, -1)), "6 elements, of shape (2, 3), cannot fill (5, -1)"),
            (lambda t: wia.reshape(t, (-1, -1)), "cannot fill (-1, -1)"),
            (lambda t: wia.reshape(t, (-2, -3)), "cannot fill (-2, -3)"),
            (lambda t: wia.reshape(t, 2.5), "shape 2.5: give integers"),
            (lambda t: wia.reshape(wia.transpose(t), 6), "reshape contiguous(tensor)"),
            (lambda t: wia.transpose(t, (0, 0)), "name each of 0 to 1 once"),
            (lambda t: wia.transpose(t, (0,)), "name each of 0 to 1 once"),
            (lambda t: wia.transpose(t, (0, 2)), "name each of 0 to 1 once"),
            (lambda t: t[2], "index 2 along axis 0, which has 2 elements: give -2 to 1"),
            (lambda t: t[0, 0, 0], "at most one index for each of its 2 axes"),
            (lambda t: t[..., ...], "and one ..."),
            (lambda t: t[[0, 1]], "an array of indices would need a copy"),
            (lambda t: t[None], "give integers, slices or ..."),
            (lambda t: t[True], "give integers, slices or ..."),
            (lambda t: t[0:0][0], "there is none to give"),
            (lambda t: wia.slice(t, 1, 3), "1 to 3 along axis 0, which has 2 elements"),
            (lambda t: wia.slice(t, (0, 2), (1, 1)), "2 to 1 along axis 1"),
            (lambda t: wia.slice(t, -1, 1), "-1 to 1 along axis 0"),
            (lambda t: wia.slice(t, (0, 0), 1), "2 starts and 1 end for 2 axes"),
            (lambda t: wia.slice(t, (0, 0, 0), (1, 1, 1)), "3 starts and 3 ends for 2 axes"),
        ],
    )
    def test_refused(self, context: wia.Context, attempt: object, text: str) -> None:
        tensor = wia.from_numpy(context, np.arange(6.0).reshape(2, 3))
        with pytest.raises(wia.InvalidValue) as refusal:
            attempt(tensor)  # type: ignore[operator]
        assert text in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def _factors(number: int) -> list[int]:
    """Prime factors, in rising order."""
    found, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return found
