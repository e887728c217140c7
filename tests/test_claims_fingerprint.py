"""The fingerprint of a recipe's code: what changes a number changes it, and nothing else does."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claims import fingerprint
from claims.fingerprint import code_fingerprint, content
from lessons import recipes

CODE = '''
from __future__ import annotations
from dataclasses import dataclass

SCALE = 2.0
UNUSED = 1.0
CELLS = {"one": "first"}

def helper(x: float) -> float:
    """Double."""
    return SCALE * x  # by two

def stranger(x: float) -> float:
    return x - 1

class Model:
    def forward(self, x: float) -> float:
        return helper(x)

@dataclass(frozen=True)
class Config:
    size: int = 1
    def build(self) -> Model:
        return Model()

@dataclass(frozen=True)
class Other:
    size: int = 1
    def build(self) -> float:
        return stranger(1.0)

@dataclass(frozen=True)
class Recipe:
    model: Config | Other = Config()
    def run(self, seed: int) -> dict[str, float]:
        return {"accuracy": self.model.build()}
'''


@pytest.fixture
def fingerprint_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(fingerprint, "PACKAGE", "changing_lesson")

    def of(old: str = "", new: str = "", model: str = "Config") -> str:
        text = textwrap.dedent(CODE)
        assert old in text
        (tmp_path / "changing_lesson.py").write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
        sys.modules.pop("changing_lesson", None)
        sys.path_importer_cache.clear()
        importlib.invalidate_caches()
        import linecache

        linecache.clearcache()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        module: Any = importlib.import_module("changing_lesson")
        sys.dont_write_bytecode = before
        code_fingerprint.cache_clear()
        return code_fingerprint(module.Recipe(getattr(module, model)()))

    yield of
    sys.modules.pop("changing_lesson", None)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "SCALE = 3.0"),
        ("return SCALE * x", "return x * SCALE"),
        ("return helper(x)", "return helper(-x)"),
        ("return Model()", "model = Model(); return model"),
        ('"accuracy"', '"precision"'),
    ],
)
def test_a_change_that_may_move_a_number_is_seen(fingerprint_of: Callable[..., str], old: str, new: str) -> None:
    assert fingerprint_of(old, new) != fingerprint_of()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("UNUSED = 1.0", "UNUSED = 2.0"),
        ("  # by two", ""),
        ('"""Double."""', '"""Multiply by two."""'),
        ("x: float) -> float:\n    return x - 1", "x: int) -> int:\n    return x - 2"),
        ("stranger(1.0)", "stranger(2.0)"),
    ],
)
def test_a_change_elsewhere_is_not(fingerprint_of: Callable[..., str], old: str, new: str) -> None:
    assert fingerprint_of(old, new) == fingerprint_of()


def test_the_configuration_inside_decides_what_counts(fingerprint_of: Callable[..., str]) -> None:
    assert fingerprint_of("return x - 1", "return x - 2", "Other") != fingerprint_of(model="Other")
    assert fingerprint_of("return helper(x)", "return helper(-x)", "Other") == fingerprint_of(model="Other")


def test_every_recipe_of_the_pages_has_plain_content_and_a_fingerprint() -> None:
    for recipe in recipes.PAGE_RUNS.values():
        assert isinstance(content(recipe), dict)
        assert len(code_fingerprint(recipe)) == 16


def test_the_bag_does_not_depend_on_the_recurrent_models() -> None:
    bag = code_fingerprint(recipes.COMPARISON["bag of embeddings"])
    assert bag != code_fingerprint(recipes.COMPARISON["LSTM"])


def test_the_version_of_a_library_outside_the_numerics_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn

    code_fingerprint.cache_clear()
    before = code_fingerprint(recipes.COUNTS_BASELINE)
    lstm = code_fingerprint(recipes.CELLS["lstm"])
    monkeypatch.setattr(sklearn, "__version__", "0.0")
    code_fingerprint.cache_clear()
    assert code_fingerprint(recipes.COUNTS_BASELINE) != before
    assert code_fingerprint(recipes.CELLS["lstm"]) == lstm
    monkeypatch.undo()
    code_fingerprint.cache_clear()


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(TypeError, match="neither a number"):
        content(object())
