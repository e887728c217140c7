"""One training loop for every recipe of both lessons.

It is the plain loop over a shuffling `DataLoader`, without the loader's cost per row: batches come from the same
random draws, the parameters lie in one flat tensor so that the optimiser makes one update instead of one per
parameter, and the weights that come out are bit for bit those of the plain loop (`tests/test_lessons_training.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.observation import Epoch, Observation, Update
from lessons.optimizers import OPTIMIZERS

Loss = Callable[[Tensor, Tensor], Tensor]

PROBE_SCALES = (1e6, 1e5)
"""Factors of the loss that make gradients far larger than any limit of a page, and a step unlike the one before."""

PROBE_ROWS = 64


@dataclass(frozen=True)
class Training:
    """How a model is trained. The defaults are the training recipe of week07.

    Attributes:
        optimizer: Adam, or SGD without momentum; all but the learning rate as the library has it.
        learning_rate: step size, > 0.
        epochs: passes over the training rows, ≥ 1.
        batch_size: rows per step; None is the full batch, in order and without a random draw.
        clip: largest global norm of the gradients handed to the optimiser, > 0 and finite, or None.
        reseed: whether the global generator is seeded again between building the model and training it.

    Raises:
        ValueError: if the epochs or the clip are out of range.
    """

    optimizer: Literal["adam", "sgd"] = "adam"
    learning_rate: float = 3e-3
    epochs: int = 10
    batch_size: int | None = 64
    clip: float | None = None
    reseed: bool = True

    def __post_init__(self) -> None:
        """Refuse what no training can do."""
        if self.epochs < 1:
            raise ValueError(f"epochs={self.epochs}: at least one is needed")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise ValueError(f"clip={self.clip}: must be a positive number, or None for no clipping")


@dataclass
class Trace:
    """What a training run shows of itself.

    Attributes:
        losses: mean training loss of each epoch.
        norms: global gradient norm of each step before any clipping.
    """

    losses: list[float] = field(default_factory=list)
    norms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Step:
    """What an observer sees after each step: `epoch` and `index` count from 0, the loss is before the step."""

    epoch: int
    index: int
    loss: float
    model: nn.Module


def shuffled_batches(inputs: Tensor, targets: Tensor, size: int | None) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield one epoch of batches, in the order of a shuffling `DataLoader` without a generator of its own.

    Such a loader takes two numbers from the global generator: a base seed, which only worker processes use, and the
    sampler's seed, which seeds the generator of the permutation.

    Args:
        inputs: shape (rows, …).
        targets: shape (rows, …).
        size: rows per batch (the last may have fewer), or None for everything at once without a draw.
    """
    if size is None:
        yield inputs, targets
        return
    torch.empty((), dtype=torch.int64).random_()
    seed = int(torch.empty((), dtype=torch.int64).random_().item())
    permutation = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(seed)).to(inputs.device)
    yield from zip(torch.split(inputs[permutation], size), torch.split(targets[permutation], size), strict=True)


def flatten(model: nn.Module) -> nn.Parameter:
    """Lay a model's parameters and their gradients into one flat tensor that shares memory with them.

    Every optimiser here works element by element, so that an update of the flat tensor is the update of all
    parameters, to the bit.

    Args:
        model: all its parameters need gradients and share one device and dtype.

    Returns:
        the flat parameter, of shape (parameters,); its `grad` holds the model's gradients.
    """
    parameters = list(model.parameters())
    flat = nn.Parameter(torch.cat([parameter.detach().reshape(-1) for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = flat.data[start:end].view_as(parameter)
        parameter.grad = flat.grad[start:end].view_as(parameter)
        start = end
    return flat


def global_norm(gradients: Sequence[Tensor]) -> Tensor:
    """Return the norm of all gradients as if they were one vector, a float of shape ().

    It is computed as the library's clipping does, as the norm of the gradients' norms, and equal to that to the bit.
    """
    norm: Tensor = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(grad) for grad in gradients]))
    return norm


class Loop:
    """A training that goes on epoch by epoch, and can go back to a checkpoint between two epochs."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Tensor,
        targets: Tensor,
        training: Training,
        loss_function: Loss,
        observation: Observation | None = None,
    ) -> None:
        """Start before the first epoch; see `train` for the arguments."""
        self._model = model
        self._inputs = inputs
        self._targets = targets
        self._batch_size = training.batch_size
        self._loss_function = loss_function
        # The kernels of a GPU want a recurrent layer's weights in their own layout, and complain about any other.
        self._parameters = list(model.parameters())
        self._updated = [flatten(model)] if inputs.device.type == "cpu" else self._parameters
        self._update = OPTIMIZERS[training.optimizer](self._updated, training.learning_rate)
        self._changing = [*self._updated, *model.buffers(), *self._update.state]
        self._losses: list[Tensor] = []
        self._norms: list[Tensor] = []
        self._observation = observation
        self._before_update: Callable[[Sequence[nn.Parameter]], None] | None = None
        if observation is not None:
            observation.begin(model, inputs, targets)
            self._before_update = observation.before_update

    @property
    def epoch(self) -> int:
        """Epochs made so far."""
        return len(self._losses)

    def run_epoch(self, clip: float | None, observe: Callable[[Step], None] | None = None) -> Tensor:
        """Go over the training rows once.

        Args:
            clip: largest global norm of the gradients handed to the optimiser, or None.
            observe: called after each step.

        Returns:
            the global gradient norm of each step before any clipping, float of shape (steps,).
        """
        self._model.train()
        losses: list[Tensor] = []
        norms: list[Tensor] = []
        if self._observation is not None:
            self._observation.begin_epoch()
        for batch, batch_targets in shuffled_batches(self._inputs, self._targets, self._batch_size):
            loss, norm = self._step(batch, batch_targets, clip)
            losses.append(loss.detach())
            norms.append(norm)
            if observe is not None:
                observe(Step(self.epoch, len(self._norms) + len(norms) - 1, loss.item(), self._model))
        if self._observation is not None:
            self._observation.end_epoch()
        self._losses.append(torch.stack(losses).mean())
        self._norms += norms
        return torch.stack(norms)

    def _step(self, batch: Tensor, targets: Tensor, clip: float | None) -> tuple[Tensor, Tensor]:
        """Make one step; return the loss and the global gradient norm before any clipping, both before the update."""
        for parameter in self._updated:
            if parameter.grad is not None:
                parameter.grad.zero_()
        loss = self._loss_function(self._model(batch), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = global_norm([p.grad for p in self._parameters if p.grad is not None])
        if clip is not None:
            nn.utils.clip_grads_with_norm_(self._updated, clip, norm)
        if self._before_update is not None:
            self._before_update(self._updated)
        self._update()
        return loss, norm

    def finish(self, clip: float | None) -> None:
        """Tell the observation, if there is one, that a training with this clipping is over."""
        if self._observation is not None:
            self._observation.finish(lambda: self._probe(clip))

    def _probe(self, clip: float | None) -> list[Update]:
        """Take two steps with very large gradients from the first weights, and go back to where the training stood.

        A training whose gradients never reach the limit does not show it otherwise.
        """
        kept = self.checkpoint()
        loss_function, before_update = self._loss_function, self._before_update
        handed: list[Tensor] = []
        updates = []
        self._before_update = lambda updated: handed.append(_vector(each.grad for each in updated))
        for tensor in self._update.state:
            tensor.zero_()
        if self._observation is not None:
            self._set_parameters(self._observation.initial)
        for scale in PROBE_SCALES:
            self._loss_function = _times(scale, loss_function)
            before = _vector(self._updated)
            self._step(self._inputs[:PROBE_ROWS], self._targets[:PROBE_ROWS], clip)
            updates.append(Update(handed[-1], _vector(self._updated) - before))
        self._loss_function, self._before_update = loss_function, before_update
        self.restore(kept)
        return updates

    @torch.no_grad()
    def _set_parameters(self, values: Iterable[Tensor]) -> None:
        for parameter, value in zip(self._parameters, values, strict=True):
            parameter.copy_(value)

    def trace(self) -> Trace:
        """Return what the training has shown of itself so far."""
        # One transfer at the end: reading each loss as it comes would make a GPU wait at every step.
        return Trace(losses=torch.stack(self._losses).tolist(), norms=torch.stack(self._norms).tolist())

    def checkpoint(self) -> Checkpoint:
        """Return where the training stands now."""
        return Checkpoint(
            [tensor.detach().clone() for tensor in self._changing],
            list(self._losses),
            list(self._norms),
            torch.random.get_rng_state(),
            _device_generator(self._inputs.device),
            list(self._observation.epochs) if self._observation is not None else [],
        )

    @torch.no_grad()
    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to where the training stood, and the global random generators with it."""
        for tensor, kept in zip(self._changing, checkpoint.tensors, strict=True):
            tensor.copy_(kept)
        self._losses = list(checkpoint.losses)
        self._norms = list(checkpoint.norms)
        torch.random.set_rng_state(checkpoint.generator)
        _set_device_generator(self._inputs.device, checkpoint.device_generator)
        if self._observation is not None:
            self._observation.epochs = list(checkpoint.observed)


def _times(scale: float, loss_function: Loss) -> Loss:
    return lambda outputs, targets: scale * loss_function(outputs, targets)


def _vector(tensors: Iterable[Tensor | None]) -> Tensor:
    """Concatenate copies of tensors, in float64 of shape (numbers,)."""
    return torch.cat([each.detach().double().reshape(-1) for each in tensors if each is not None])


def _device_generator(device: torch.device) -> Tensor | None:
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.mps.get_rng_state() if device.type == "mps" else None


def _set_device_generator(device: torch.device, state: Tensor | None) -> None:
    if state is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state, device)
    elif state is not None:
        torch.mps.set_rng_state(state)


@dataclass(frozen=True)
class Checkpoint:
    """Where a training stands between two epochs.

    Attributes:
        tensors: parameters, buffers, and what the optimiser remembers.
        losses: the epochs' so far.
        norms: the steps' so far.
        generator: state of the global random generator on the CPU.
        device_generator: of the one on the device, if that is another.
        observed: the epochs so far, as an observation has seen them.
    """

    tensors: Sequence[Tensor]
    losses: Sequence[Tensor]
    norms: Sequence[Tensor]
    generator: Tensor
    device_generator: Tensor | None
    observed: Sequence[Epoch]


def train(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    training: Training,
    *,
    loss_function: Loss = functional.cross_entropy,
    observe: Callable[[Step], None] | None = None,
    observation: Observation | None = None,
) -> Trace:
    """Train a model in place.

    Args:
        model: on the device of the data; left in training mode.
        inputs: shape (rows, …), as the model takes them.
        targets: shape (rows, …), as the loss takes them.
        training: the recipe.
        loss_function: from (model output, targets) to a scalar.
        observe: called after each step.
        observation: of this model; it is told of the epochs.

    Returns:
        the losses of the epochs and the gradient norms of the steps.
    """
    loop = Loop(model, inputs, targets, training, loss_function, observation)
    while loop.epoch < training.epochs:
        loop.run_epoch(training.clip, observe)
    loop.finish(training.clip)
    return loop.trace()


def train_together(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    trainings: Iterable[Training],
    observation: Observation | None = None,
) -> Iterator[tuple[Training, Trace]]:
    """Train a classifier by several recipes that differ in epochs and clipping alone; what they share is made once.

    They take the same steps until a clipping first acts. Each one comes out as `train` alone makes it, to the bit.

    Args:
        model: as for `train`.
        inputs: as for `train`.
        targets: as for `train`.
        trainings: no two alike.
        observation: as for `train`.

    Yields:
        each training as it is finished, with its trace. Until the next one is asked for, the model is what came out of
        it, and the observation is of this training; and nothing may be drawn from the global random generator.
    """
    first, *others = trainings
    loop = Loop(model, inputs, targets, first, functional.cross_entropy, observation)
    branches = [(loop.checkpoint(), [first, *others])]
    while branches:
        checkpoint, together = branches.pop()
        loop.restore(checkpoint)
        while together:
            checkpoint = loop.checkpoint()
            loosest = max(together, key=_ceiling)
            norms = loop.run_epoch(loosest.clip)
            parting = [training for training in together if training.clip != loosest.clip and _acts(training, norms)]
            if parting:  # in the middle of this epoch, which they make again from its beginning
                branches.append((checkpoint, parting))
            staying = [training for training in together if training not in parting]
            for training in staying:
                if training.epochs == loop.epoch:
                    loop.finish(training.clip)
                    if observation is not None:  # another training may have been scored since this epoch
                        observation.scored.clear()
                    yield training, loop.trace()
            together = [training for training in staying if training.epochs > loop.epoch]


def _ceiling(training: Training) -> float:
    return math.inf if training.clip is None else training.clip


def _acts(training: Training, norms: Tensor) -> bool:
    """Say whether a training's clipping changes a gradient with one of these norms, as the library clips."""
    return training.clip is not None and not bool((training.clip / (norms + 1e-6) >= 1).all())


@torch.no_grad()
def accuracy(model: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    """Share of rows whose largest logit is the label's, in eval mode; a number in 0..1."""
    model.eval()
    correct: Tensor = model(inputs).argmax(dim=-1) == labels
    return correct.double().mean().item()
