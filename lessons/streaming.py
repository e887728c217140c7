"""Reading an endless stream one element at a time: a recurrence carried on, and what it keeps in memory."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from lessons.cost import RecurrentCell


def noise(width: int, seed: int, device: torch.device) -> Iterator[Tensor]:
    """Yield standard normal elements of shape (1, width) without end, each drawn when it is asked for."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield torch.randn(1, width, generator=generator).to(device)


def stream(cell: RecurrentCell, elements: Iterable[Tensor]) -> Iterator[Tensor]:
    """Yield the output after each element, keeping nothing but the state.

    That is so without gradients only: with them, each state keeps the computation of all states before it.

    Args:
        cell: from `features` to `hidden`.
        elements: each float of shape (batch, features).

    Yields:
        float of shape (batch, hidden).
    """
    state = None
    for element in elements:
        state = cell(element, state)
        yield state[0] if isinstance(state, tuple) else state


def as_layer(cell: RecurrentCell) -> nn.RNN | nn.GRU | nn.LSTM:
    """The library's layer with the weights of a cell; it reads whole sequences, (batch, length, features)."""
    kinds = {nn.RNNCell: nn.RNN, nn.GRUCell: nn.GRU, nn.LSTMCell: nn.LSTM}
    layer: nn.RNN | nn.GRU | nn.LSTM = kinds[type(cell)](cell.input_size, cell.hidden_size, batch_first=True)
    layer.to(cell.weight_ih.device)
    layer.load_state_dict({f"{name}_l0": value for name, value in cell.state_dict().items()})
    return layer


def live_tensor_bytes() -> int:
    """Bytes of all storages that a tensor of this process keeps alive, on every device."""
    gc.collect()
    storages = {}
    for item in gc.get_objects():
        if type(item) in (Tensor, nn.Parameter):
            storage = item.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
    return sum(storages.values())
