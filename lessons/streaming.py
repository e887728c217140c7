"""Reading an endless stream one element at a time: a recurrence carried on, and the memory that its process takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import psutil
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


def memory_along_stream(
    width: int, places: Sequence[int], device: torch.device, *, keep_sums: bool = False
) -> list[int]:
    """Read a stream of noise in a new process that does nothing else, and measure that process on the way.

    A process of its own, because one that has done other things has freed memory, in which what is kept would hide.

    Args:
        width: of the elements and of the plain recurrence that reads them.
        places: after how many elements to measure, increasing, each ≥ 1.
        device: on which the cell runs.
        keep_sums: whether to keep one number per element, to see that it shows.

    Returns:
        the process's memory in bytes after so many elements: what is resident, and on a GPU what tensors take there.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        return process.submit(_memory_along_stream, width, places, str(device), keep_sums=keep_sums).result()


@torch.inference_mode()
def _memory_along_stream(width: int, places: Sequence[int], device: str, *, keep_sums: bool) -> list[int]:
    torch.set_num_threads(1)
    on = torch.device(device)
    memory, sums = [], []
    outputs = stream(nn.RNNCell(width, width).to(on), noise(width, 0, on))
    for read, output in enumerate(outputs, start=1):
        if keep_sums:
            sums.append(output.sum().item())
        if read in places:
            on_gpu = torch.cuda.memory_allocated(on) if on.type == "cuda" else 0
            memory.append(psutil.Process().memory_info().rss + on_gpu)
        if read == places[-1]:
            break
    return memory
