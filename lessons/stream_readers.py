"""What reads a stream one element at a time, and what it keeps to do so: a state, or keys and values to attend to."""

from __future__ import annotations

import math
from collections import deque

import torch
from torch import Tensor, nn

from lessons.cost import RecurrentCell


class CarriedState(nn.Module):
    """A recurrence that carries its state on."""

    def __init__(self, cell: RecurrentCell) -> None:
        """Begin at the start of a stream; `cell` is from `features` to `hidden`."""
        super().__init__()
        self.cell = cell
        self.state: Tensor | tuple[Tensor, Tensor] | None = None

    @torch.no_grad()
    def forward(self, element: Tensor) -> Tensor:
        """Read one further element, float of shape (1, features); returns the output, of shape (1, hidden)."""
        self.state = self.cell(element, self.state)
        return self.state[0] if isinstance(self.state, tuple) else self.state


class StreamingAttention(nn.Module):
    """One head of attention in which each element looks at itself and at what is kept of those before it.

    Keys and values are computed once and kept: those of all elements, or of the last `window`. It is causal attention,
    softmax(q·Kᵀ / √width)·V, computed row by row (Vaswani et al., "Attention is all you need", 2017).
    """

    def __init__(self, width: int, window: int | None = None) -> None:
        """Begin with nothing kept.

        Args:
            width: of the elements, keys, values and outputs, ≥ 1.
            window: how many elements are kept, the one that is read among them, ≥ 1; None for all.

        Raises:
            ValueError: if the window is smaller than 1.
        """
        super().__init__()
        if window is not None and window < 1:
            raise ValueError(f"window={window}: the element that is read is in it, so that 1 is the least")
        self.window = window
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    @torch.no_grad()
    def forward(self, element: Tensor) -> Tensor:
        """Read one further element, float of shape (1, width); returns its output, of the same shape."""
        self.keys = self._kept(self.keys, self.key(element))
        self.values = self._kept(self.values, self.value(element))
        scores = self.query(element) @ self.keys.T / math.sqrt(element.shape[1])
        output: Tensor = scores.softmax(dim=1) @ self.values
        return output

    def _kept(self, before: Tensor | None, new: Tensor) -> Tensor:
        together = new if before is None else torch.cat([before, new])
        # A copy, because a slice would keep the whole of what it is cut from.
        return together if self.window is None else together[-self.window :].clone()


def kept_bytes(reader: nn.Module) -> int:
    """Bytes of all that a reader keeps from one element to the next: tensors anywhere in it, and numbers in lists.

    Its parameters are not counted: they are what it is, not what it has read.
    """
    kept = 0
    pending: list[object] = [reader]
    while pending:
        item = pending.pop()
        if isinstance(item, nn.Module):
            pending.extend(value for value in vars(item).values() if not isinstance(value, (bool, int, float)))
        elif isinstance(item, Tensor):
            kept += 0 if isinstance(item, nn.Parameter) else item.untyped_storage().nbytes()
        elif isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, (list, tuple, set, deque)):
            pending.extend(item)
        elif isinstance(item, (int, float)):
            kept += 8
    return kept
