from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lessons.padding import PADDING, masked_mean, pack, pad, real_by_length, real_by_token, run

Sequences = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=8), min_size=1, max_size=6)


@given(Sequences)
def test_padding_loses_nothing_and_adds_padding_alone(sequences: list[list[int]]) -> None:
    tokens, lengths = pad(sequences)
    assert tokens.shape == (len(sequences), max(map(len, sequences)))
    for row, length, sequence in zip(tokens.tolist(), lengths.tolist(), sequences, strict=True):
        assert row[:length] == sequence
        assert set(row[length:]) <= {PADDING}


@given(Sequences)
def test_lengths_and_a_padding_token_mark_the_same_positions(sequences: list[list[int]]) -> None:
    tokens, lengths = pad(sequences, padding=10)
    real = real_by_length(lengths, tokens.shape[1])
    assert real.tolist() == [[place < len(row) for place in range(tokens.shape[1])] for row in sequences]
    assert torch.equal(real, real_by_token(tokens, padding=10))


def test_a_mask_of_what_is_not_zero_drops_a_token_0() -> None:
    tokens, _ = pad([[1, 0, 2], [3]])
    assert real_by_token(tokens).tolist() == [[True, False, True], [True, False, False]]


@pytest.mark.parametrize("sequences", [[], [[]], [[1, 2], []]])
def test_there_is_no_padding_an_empty_sequence(sequences: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="none of length 0"):
        pad(sequences)


@given(Sequences)
def test_a_pack_holds_the_real_positions_alone(sequences: list[list[int]]) -> None:
    tokens, lengths = pad(sequences)
    packed = pack(tokens[..., None].float(), lengths)
    assert sorted(packed.data.flatten().tolist()) == sorted(float(token) for row in sequences for token in row)


def test_outputs_of_a_packed_run_keep_the_shape_of_the_rectangle() -> None:
    outputs, state = run(nn.GRU(3, 4, batch_first=True), torch.randn(2, 7, 3), torch.tensor([2, 5]))
    assert outputs.shape == (2, 7, 4)
    assert not outputs[0, 2:].any()
    assert not outputs[1, 5:].any()
    assert state.shape == (1, 2, 4)


def test_the_masked_mean_keeps_out_what_stands_in_the_padding() -> None:
    outputs = torch.tensor([[[2.0], [4.0], [float("nan")]]])
    assert masked_mean(outputs, torch.tensor([2])).tolist() == [[3.0]]
