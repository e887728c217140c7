"""What reads a stream element by element gives what the same layer gives for the whole sequence."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from lessons.cost import RECURRENT_CELLS, recur
from lessons.stream_readers import CarriedState, StreamingAttention, kept_bytes

sizes = st.integers(1, 6)


@given(length=sizes, features=sizes, hidden=sizes, name=st.sampled_from(sorted(RECURRENT_CELLS)))
@settings(max_examples=20, deadline=None)
def test_a_carried_state_gives_the_outputs_of_the_whole_pass(
    length: int, features: int, hidden: int, name: str
) -> None:
    cell, inputs = RECURRENT_CELLS[name](features, hidden), torch.randn(1, length, features)
    reader = CarriedState(cell)
    outputs = torch.stack([reader(element) for element in inputs.unbind(dim=1)], dim=1)
    torch.testing.assert_close(outputs, recur(cell, inputs))
    assert kept_bytes(reader) == 4 * hidden * (2 if name == "LSTM" else 1)


@given(length=st.integers(1, 12), width=sizes, window=st.none() | sizes)
@settings(max_examples=40, deadline=None)
def test_a_cache_gives_the_outputs_of_causal_attention(length: int, width: int, window: int | None) -> None:
    reader, inputs = StreamingAttention(width, window), torch.randn(length, width)
    outputs = torch.cat([reader(element[None]) for element in inputs])
    back = torch.arange(length)[:, None] - torch.arange(length)
    seen = (back >= 0) & (back < (window or length))
    expected = functional.scaled_dot_product_attention(
        reader.query(inputs), reader.key(inputs), reader.value(inputs), attn_mask=seen
    )
    torch.testing.assert_close(outputs, expected, rtol=1e-4, atol=1e-5)
    assert kept_bytes(reader) == 2 * 4 * width * min(length, window or length)


def test_nothing_is_kept_at_the_start_and_an_empty_window_is_refused() -> None:
    assert kept_bytes(CarriedState(RECURRENT_CELLS["LSTM"](2, 3))) == kept_bytes(StreamingAttention(2)) == 0
    with pytest.raises(ValueError, match="window=0"):
        StreamingAttention(2, 0)


def test_whatever_a_reader_keeps_is_counted() -> None:
    reader = CarriedState(RECURRENT_CELLS["RNN"](2, 3))
    reader.log = [torch.zeros(5), [1.0, 2.0]]  # type: ignore[assignment]
    assert kept_bytes(reader) == 4 * 5 + 2 * 8
