"""The settings of a training run, in the words of the pages, as they follow from what was seen of it.

Each is worked out from the built model, the updates, the random states and the rows that came, never from the recipe:
a recipe that says one thing and does another shows here. What cannot be told is called `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from lessons.observation import LOOKED_AT, Layer, Observation, Pass
from lessons.splits import Source

Settings: TypeAlias = dict[str, int | float | str]

UNKNOWN = "unknown"
NONE = "none"
SHUFFLED = "shuffled anew in each epoch"
AS_THEY_COME = "as they come"

POOLINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "last position": lambda outputs: outputs[:, -1],
    "mean": lambda outputs: outputs.mean(dim=1),
    "maximum": lambda outputs: outputs.amax(dim=1),
    "maximum and mean": lambda outputs: torch.cat([outputs.amax(dim=1), outputs.mean(dim=1)], dim=1),
    "every position": lambda outputs: outputs,
    "first position": lambda outputs: outputs[:, 0],
    "sum": lambda outputs: outputs.sum(dim=1),
    "minimum": lambda outputs: outputs.amin(dim=1),
}
"""Ways to make one vector of outputs of shape (batch, length, features)."""

CELLS = {"RNN_TANH": "plain RNN", "GRU": "GRU", "LSTM": "LSTM"}

PAGE_SEEDS = (9, 0, 1, 2, 3, 4, 5, 6, 7, 8)
"""Seeds among which the one is looked for that gives what was seen: first the one whose data take longest to draw."""


@runtime_checkable
class Sourced(Protocol):
    """Data that can tell where rows of it come from."""

    def source(self, inputs: Tensor, seeds: Iterable[int]) -> Source | None:
        """Return from which of these data seeds rows come, and which they are; None if from none of them."""


def observed_settings(
    seen: Observation, data: object, build: Callable[[], nn.Module], *, accuracy: float | None = None
) -> Settings:
    """Return all settings that follow from what was seen of a run.

    Args:
        seen: after the training and the scoring, with no training after it.
        data: what the rows were drawn from; their settings are left out if it is not `Sourced`.
        build: makes a model like the one that was trained, with weights from the global generator.
        accuracy: what the scoring gave; None for a run that is not scored.
    """
    settings: Settings = {}
    order, batch_size, rows = _order(seen)
    if isinstance(data, Sourced):
        source = data.source(seen.inputs, PAGE_SEEDS)
        known = source is not None and torch.equal(source.labels, seen.targets.cpu())
        settings["training rows"] = source.rows if source is not None and known else UNKNOWN
        settings["training data seed"] = source.seed if source is not None and known else UNKNOWN
        settings["length"] = source.length if source is not None and known else UNKNOWN
        settings |= source.contents if source is not None else {}
    settings |= {
        "rows per epoch": rows,
        "order of rows": order,
        "batch size": batch_size,
        "epochs": len(seen.epochs),
        "mode in training": _mode([each for epoch in seen.epochs for each in epoch.passes]),
        **_model(seen),
        "loss": _loss(seen),
        **_optimizer(seen),
        **_seeds(seen, build),
    }
    if accuracy is not None:
        settings |= _scoring(seen, data, accuracy)
    return settings


def loader_order(state: Tensor, rows: int) -> Tensor:
    """Return the order of a shuffling `DataLoader` that begins at this state of the global generator; shape (rows,)."""
    generator = torch.Generator()
    generator.set_state(state)
    torch.empty((), dtype=torch.int64).random_(generator=generator)  # a base seed, which only worker processes use
    seed = int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed))


def _order(seen: Observation) -> tuple[str, int | str, int | str]:
    """Return in which order rows come, how many in a step, and how many in an epoch."""
    sizes = [[len(each.tokens) for each in epoch.passes] for epoch in seen.epochs]
    if not sizes or not all(sizes):
        return UNKNOWN, UNKNOWN, UNKNOWN
    batch = sizes[0][0]
    regular = all(set(epoch[:-1]) <= {batch} and epoch[-1] <= batch for epoch in sizes)
    totals = {sum(epoch) for epoch in sizes}
    orders = {_order_of_epoch(seen, number) for number in range(len(sizes))}
    order = orders.pop() if len(orders) == 1 else UNKNOWN
    if order == SHUFFLED:
        drawn = [tuple(loader_order(epoch.generator, len(seen.inputs)).tolist()) for epoch in seen.epochs]
        seeded_again = any(_fresh_seed(epoch.generator) is not None for epoch in seen.epochs[1:])
        order = order if len(set(drawn)) == len(drawn) and not seeded_again else "shuffled from a seed set again"
    return order, batch if regular else UNKNOWN, totals.pop() if len(totals) == 1 else UNKNOWN


def _order_of_epoch(seen: Observation, number: int) -> str:
    epoch = seen.epochs[number]
    rows = torch.cat([each.tokens for each in epoch.passes])
    if torch.equal(rows, seen.inputs):
        return AS_THEY_COME
    order = loader_order(epoch.generator, len(seen.inputs)).to(seen.inputs.device)
    return SHUFFLED if torch.equal(rows, seen.inputs[order][: len(rows)]) else UNKNOWN


def _mode(passes: Iterable[Pass]) -> str:
    modes = {each.training for each in passes}
    return {frozenset({True}): "training", frozenset({False}): "evaluation"}.get(frozenset(modes), UNKNOWN)


# The model ---------------------------------------------------------------------------------------------------------


def _model(seen: Observation) -> Settings:
    """Return what the model is made of, and which dropout acts where."""
    passes = [*seen.looked_into, *seen.scored]
    layers = [layer for layer, _, _ in passes[0].layers] if passes else []
    embedding = next((each for each in layers if isinstance(each, nn.Embedding)), None)
    recurrent = next((each for each in layers if isinstance(each, nn.RNNBase)), None)
    settings: Settings = {
        "vocabulary": embedding.num_embeddings if embedding is not None else UNKNOWN,
        "embedding size": embedding.embedding_dim if embedding is not None else UNKNOWN,
        "cell": CELLS.get(recurrent.mode, recurrent.mode) if recurrent is not None else NONE,
    }
    if recurrent is not None:
        settings |= {
            "hidden size": recurrent.hidden_size,
            "layers": recurrent.num_layers,
            "directions": 2 if recurrent.bidirectional else 1,
            "layout": "batch first" if recurrent.batch_first else "sequence first",
        }
        if recurrent.num_layers > 1:
            settings["dropout between layers"] = recurrent.dropout
    trained = [_read(each) for each in seen.looked_into]
    scored = [_read(each) for each in seen.scored]
    settings |= {
        "pooling": _one(pooling for pooling, _, _ in [*trained, *scored]),
        "head": _one(_head(each) for each in passes),
        "dropout on the embedding": _one(embedded for _, embedded, _ in trained),
        "dropout before the head": _one(pooled for _, _, pooled in trained),
    }
    return settings


def _one(values: Iterable[int | float | str]) -> int | float | str:
    """Return the value that all have; unknown if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else UNKNOWN


def _body_and_head(seen: Pass) -> tuple[Layer | None, Layer | None, list[Layer]]:
    """Return the embedding, the recurrent layer and the head, which is all after these two but for dropout."""
    layers = [each for each in seen.layers if not isinstance(each[0], nn.Dropout)]
    embedding = next((each for each in layers if isinstance(each[0], nn.Embedding)), None)
    recurrent = next((each for each in layers if isinstance(each[0], nn.RNNBase)), None)
    last = recurrent or embedding
    head = layers[[each is last for each in layers].index(True) + 1 :] if last is not None else []
    return embedding, recurrent, head


def _read(seen: Pass) -> tuple[str, float | str, float | str]:
    """Return how the positions are pooled, and the dropout rates on the embedding and before the head."""
    embedding, recurrent, head = _body_and_head(seen)
    if embedding is None or not head:
        return UNKNOWN, UNKNOWN, UNKNOWN
    embedded = dropout_rate(embedding[2], recurrent[1]) if recurrent is not None else 0.0
    outputs = recurrent[2] if recurrent is not None else embedding[2]
    for name, pool in POOLINGS.items():
        rate = dropout_rate(pool(outputs), head[0][1])
        if rate is not None:
            return name, UNKNOWN if embedded is None else embedded, rate
    return UNKNOWN, UNKNOWN if embedded is None else embedded, UNKNOWN


def dropout_rate(before: Tensor, after: Tensor) -> float | None:
    """Return the rate of a dropout that has made one tensor of another, 0 if they are equal.

    Dropout makes a number 0 with its rate, each for itself, and otherwise divides it by 1 − rate.

    Args:
        before: what went in; no number of it is 0, or nearly none.
        after: what came out.

    Returns:
        the rate, 0 ≤ rate ≤ 1, to four digits; None if it was no dropout.
    """
    if before.shape != after.shape:
        return None
    if torch.allclose(before, after, rtol=1e-5, atol=1e-7):
        return 0.0
    kept = (after != 0) & (before != 0)
    if not kept.any():
        return 1.0
    factors = after[kept].double() / before[kept].double()
    factor = factors.median().item()
    rate = 1 - 1 / factor if factor > 0 else -1.0
    missing = 1 - kept.double().mean().item()
    spread = (max(rate * (1 - rate), 0.0) / kept.numel()) ** 0.5
    if rate <= 0 or not torch.allclose(factors, factors.median(), rtol=1e-4) or abs(missing - rate) > 6 * spread:
        return None
    # Numbers of a dropout of the library are independent of each other: no row and no position is like the first.
    alike = any(torch.equal(kept, kept.narrow(dim, 0, 1).expand_as(kept)) for dim in range(kept.dim()))
    return None if alike else round(rate, 4)


def _head(seen: Pass) -> str:
    """Return the head's layers, such as "32 → 64, ReLU, 64 → 2"."""
    _, _, head = _body_and_head(seen)
    if not head or seen.outputs is None or not torch.equal(head[-1][2], seen.outputs[:LOOKED_AT]):
        return UNKNOWN
    return ", ".join(
        f"{layer.in_features} → {layer.out_features}" if isinstance(layer, nn.Linear) else type(layer).__name__
        for layer, _, _ in head
    )


# Loss and optimiser ------------------------------------------------------------------------------------------------


def _loss(seen: Observation) -> str:
    """Return the loss, by its gradient in the model's outputs."""
    return "mean cross-entropy" if seen.epochs and all(map(_is_cross_entropy, *_first_steps(seen))) else UNKNOWN


def _first_steps(seen: Observation) -> tuple[list[Pass], list[Tensor | None]]:
    """Return the first pass of each epoch, and the targets of its rows, None if the order is unknown."""
    targets: list[Tensor | None] = []
    for number, epoch in enumerate(seen.epochs):
        order = _order_of_epoch(seen, number)
        rows = torch.arange(len(seen.inputs))
        rows = loader_order(epoch.generator, len(rows)) if order == SHUFFLED else rows
        first = rows[: len(epoch.passes[0].tokens)].to(seen.targets.device) if epoch.passes else rows[:0]
        targets.append(seen.targets[first] if order != UNKNOWN else None)
    return seen.looked_into, targets


def _is_cross_entropy(seen: Pass, targets: Tensor | None) -> bool:
    """Say whether the gradient is (softmax − one-hot target) / number of targets."""
    if targets is None or seen.gradient is None or seen.outputs is None:
        return False
    logits = seen.outputs.double()
    wanted = (functional.softmax(logits, dim=-1) - functional.one_hot(targets, logits.shape[-1])) / targets.numel()
    return torch.allclose(seen.gradient.double(), wanted, rtol=1e-4, atol=1e-6 / targets.numel())


def _optimizer(seen: Observation) -> Settings:
    """Return the optimiser and its rate, by what it made of two gradients, and the limit that both were cut down to."""
    (one, first), (other, second) = ((each.gradient, each.change) for each in seen.updates)
    moved = one != 0
    name, rate = UNKNOWN, float("nan")
    if moved.any():
        average, squares = 0.9 * 0.1 * one + 0.1 * other, 0.999 * 0.001 * one**2 + 0.001 * other**2
        adam = (average / (1 - 0.9**2)) / ((squares / (1 - 0.999**2)).sqrt() + 1e-8)
        directions = {"Adam": (one / (one.abs() + 1e-8), adam), "SGD": (one, other)}
        for known, (after_one, after_two) in directions.items():
            rate = (-first[moved] / after_one[moved]).median().item()
            off = 1e-3 * abs(rate) * float(after_one.abs().median())
            pairs = ((first, after_one), (second, after_two))
            if all(torch.allclose(change, -rate * step, rtol=1e-3, atol=off) for change, step in pairs):
                name = known
                break
    largest = [each.norm().item() for each in (one, other)]
    limits = {float(f"{norm:.4g}") for norm in largest}
    clip: float | str = limits.pop() if len(limits) == 1 else NONE
    handed = max((float(norm) for epoch in seen.epochs for norm in epoch.handed), default=0.0)
    return {
        "optimizer": name,
        "learning rate": float(f"{rate:.4g}") if name != UNKNOWN else UNKNOWN,
        "clip": clip if isinstance(clip, str) or handed <= clip * (1 + 1e-4) else f"{clip}, and up to {handed:.4g}",
    }


# Seeds -------------------------------------------------------------------------------------------------------------


def _fresh_seed(state: Tensor) -> int | None:
    """Return the seed that a generator was given if nothing was drawn since; None if something was."""
    generator = torch.Generator()
    generator.set_state(state)
    seed = generator.initial_seed()
    return seed if torch.equal(torch.Generator().manual_seed(seed).get_state(), state) else None


def _seeds(seen: Observation, build: Callable[[], nn.Module]) -> Settings:
    """Return from which seed the first weights come, and whether the training began at a seed of its own."""
    kept = torch.random.get_rng_state()
    before, after = UNKNOWN, None
    found: int | str = before
    try:
        for seed in PAGE_SEEDS:
            torch.default_generator.manual_seed(seed)  # a GPU's generator stays as it is
            weights = list(build().parameters())
            if len(weights) == len(seen.initial) and all(map(_equal, weights, seen.initial)):
                found, after = seed, torch.random.get_rng_state()
                break
    finally:
        torch.random.set_rng_state(kept)
    begun: int | str = UNKNOWN
    if seen.epochs:
        state = seen.epochs[0].generator
        if after is not None and torch.equal(state, after):
            begun = NONE
        elif (seed_of_training := _fresh_seed(state)) is not None:
            begun = seed_of_training
    return {"global seed before the model": found, "global seed before the training": begun}


def _equal(one: Tensor, other: Tensor) -> bool:
    return torch.equal(one.cpu(), other.cpu())


# Scoring -----------------------------------------------------------------------------------------------------------


def _scoring(seen: Observation, data: object, accuracy: float) -> Settings:
    """Return which rows were scored, and how."""
    source = None
    if seen.scored and isinstance(data, Sourced):
        source = data.source(torch.cat([each.tokens for each in seen.scored]), PAGE_SEEDS)
    by = UNKNOWN
    if source is not None:
        outputs = torch.cat([each.outputs for each in seen.scored if each.outputs is not None])
        right = (outputs.argmax(dim=-1).cpu() == source.labels).double().mean().item()
        by = "largest logit" if right == accuracy else UNKNOWN
    rates = {rate for each in seen.scored for rate in _read(each)[1:]}
    return {
        "scored rows": source.rows if source is not None else UNKNOWN,
        "scored data seed": source.seed if source is not None else UNKNOWN,
        "mode in scoring": _mode(seen.scored),
        "dropout in scoring": "off" if rates == {0.0} else "on" if rates and UNKNOWN not in rates else UNKNOWN,
        "scored by": by,
    }
