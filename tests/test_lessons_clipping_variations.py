from __future__ import annotations

from dataclasses import replace

from lessons.clipping_variations import CLIPPING_SCORED, TIGHTLY_CLIPPED
from lessons.recipes import CLIPPING


def test_the_scored_runs_are_the_page_s() -> None:
    assert {name: recipe.training for name, recipe in CLIPPING_SCORED.items()} == {
        name: probe.training for name, probe in CLIPPING.items()
    }
    assert all(
        (recipe.data, recipe.model) == (CLIPPING[name].data, CLIPPING[name].model)
        for name, recipe in CLIPPING_SCORED.items()
    )


def test_the_tight_limit_is_all_that_differs() -> None:
    page = CLIPPING["with clipping"]
    assert TIGHTLY_CLIPPED.training.clip == 0.01
    assert replace(TIGHTLY_CLIPPED, training=replace(TIGHTLY_CLIPPED.training, clip=1.0)) == page
