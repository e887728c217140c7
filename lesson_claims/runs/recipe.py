"""What a recipe is: a frozen dataclass that says all there is to a run but its seed and its device.

    @dataclass(frozen=True)
    class Descent:
        rate: float = 0.1

        def run(self, seed: int) -> Outcome:
            ...
            return {"loss": loss}

A recipe and a seed make a run: `recipe.run(seed)` is a pure function of the two and of the machine's numerics. A
recipe that computes with torch takes the device too: `run(self, seed, device)`, with a `torch.device`. A recipe in
which nothing can depend on a seed says so, `seedless: ClassVar[bool] = True`, and has a single run.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

if TYPE_CHECKING:
    import torch

    from lesson_claims.runs.device import Device

Outcome: TypeAlias = dict[str, Any]
"""What a run measured: numbers, strings, booleans, and lists of these, under names that the recipe documents."""


class RecipeError(TypeError):
    """A recipe is not what a recipe has to be; one line says which and what to do."""


class NeedsNoDevice(Hashable, Protocol):
    """A recipe that runs on the processor and knows nothing of torch."""

    def run(self, seed: int) -> Outcome:
        """Make the run; `seed` ≥ 0."""


class NeedsDevice(Hashable, Protocol):
    """A recipe that computes with torch."""

    def run(self, seed: int, device: torch.device) -> Outcome:
        """Make the run on a device; `seed` ≥ 0."""


Recipe: TypeAlias = NeedsNoDevice | NeedsDevice
"""A frozen dataclass whose `run(seed)` or `run(seed, device)` makes a run."""


@runtime_checkable
class SharesFirstSteps(Hashable, Protocol):
    """A recipe that may take its first steps together with others."""

    @property
    def start(self) -> Hashable:
        """What decides the first steps: recipes that are equal in this take the same ones."""

    def run(self, seed: int, device: torch.device) -> Outcome:
        """Make the run alone."""

    def run_with(self, others: Sequence[Any], seed: int, device: torch.device) -> Iterator[tuple[Recipe, Outcome]]:
        """Make this run and those of other recipes, all of them with the same start.

        Yields:
            each recipe as it is finished, in any order, with what its `run` alone would return.
        """


def only_differ(one: object, other: object, *names: str) -> None:
    """Make sure that two recipes which are compared differ in what the comparison is about, and in nothing else.

    Args:
        one: a recipe.
        other: the recipe that it is compared with.
        names: the fields in which the two differ, with dots for the fields of a field: `"training.epochs"`. A field
            stands for all that is in it.

    Raises:
        RecipeError: if they differ in another field, or are the same in one of these.
    """
    found = list(_differences(one, other))
    others = [each for each in found if not any(each == name or each.startswith(f"{name}.") for name in names)]
    same = [name for name in names if not any(each == name or each.startswith(f"{name}.") for each in found)]
    if others or same:
        wrong = f"differ in {', '.join(others)} as well" if others else f"are the same in {', '.join(same)}"
        raise RecipeError(
            f"a comparison of runs that are to differ in {', '.join(names)} alone: they {wrong}; mend the recipe"
            f" {type(one).__name__}, or {type(other).__name__}, or say what they differ in"
        )


def _differences(one: object, other: object, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields in which two values differ."""
    if type(one) is type(other) and is_dataclass(one) and not isinstance(one, type):
        for each in fields(one):
            within = f"{path}.{each.name}" if path else each.name
            yield from _differences(getattr(one, each.name), getattr(other, each.name), within)
    elif one != other:
        yield path or "what they are"


def start_together(one: Recipe, other: Recipe) -> bool:
    """Say whether two recipes take the same first steps."""
    return isinstance(one, SharesFirstSteps) and isinstance(other, SharesFirstSteps) and one.start == other.start


def is_seedless(recipe: Recipe) -> bool:
    """Say whether a recipe declares that its run is the same for every seed."""
    return bool(getattr(recipe, "seedless", False))


def takes_device(recipe: Recipe) -> bool:
    """Say whether a recipe's `run` takes a device, and so computes with torch."""
    return "device" in inspect.signature(recipe.run).parameters


def run_together(recipes: Sequence[Recipe], seed: int, device: Device) -> Iterator[tuple[Recipe, Outcome]]:
    """Make the run of one recipe, or of several that start together.

    Yields:
        each recipe as it is finished, with what its `run` alone would return.
    """
    first, *others = recipes
    if isinstance(first, SharesFirstSteps):
        yield from first.run_with(others, seed, device.torch())
    elif takes_device(first):
        yield first, cast("NeedsDevice", first).run(seed, device.torch())
    else:
        yield first, cast("NeedsNoDevice", first).run(seed)
