"""The toy language detector: random strings with three languages' letter frequencies, and their encoding.

A worked example, the first string that seed 9 draws (its label is 2, fr):

    sueuenhbkqlksppgnuknyznfrb kpuaoehfq
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lessons.splits import Source, Split

ALPHABET = "abcdefghijklmnopqrstuvwxyz "
PADDING = len(ALPHABET)
PROFILES: dict[str, dict[str, float]] = {
    "en": {"t": 4, "h": 3, "e": 5, " ": 4, "a": 3, "o": 2},
    "de": {"c": 3, "h": 4, "e": 5, "n": 4, " ": 4, "s": 3},
    "fr": {"e": 6, "s": 3, "u": 3, " ": 4, "q": 2, "a": 3},
}
"""Weights of the characters that a language favours; every other character weighs 1."""

LANGS = tuple(PROFILES)
"""The languages in the order of their labels."""

PAGE_SEED = 9
"""Of the page's strings, and of its model as well."""

ROWS = 1500
TRAINING_ROWS = 1200


def character_probabilities(lang: str) -> NDArray[np.float64]:
    """Probabilities of the 27 characters of `ALPHABET`, float64 of shape (27,), which sum to 1."""
    weights = np.array([PROFILES[lang].get(character, 1.0) for character in ALPHABET])
    probabilities: NDArray[np.float64] = weights / weights.sum()
    return probabilities


def make_string(lang: str, length: int, generator: np.random.Generator) -> str:
    """Draw a string of `length` characters, each by itself, as often as the language favours it."""
    return "".join(generator.choice(list(ALPHABET), size=length, p=character_probabilities(lang)))


def language_strings(seed: int) -> tuple[list[str], NDArray[np.int64]]:
    """Draw the strings and their labels in the page's own order.

    Args:
        seed: of the one NumPy generator; the page's is `PAGE_SEED`.

    Returns:
        1,500 strings of 20..59 characters, and labels, int64 of shape (1500,), indices into `LANGS`.
    """
    generator = np.random.default_rng(seed)
    lengths = generator.integers(20, 60, ROWS)
    labels = generator.integers(0, len(LANGS), ROWS)
    strings = [make_string(LANGS[label], length, generator) for label, length in zip(labels, lengths, strict=True)]
    return strings, labels


def encode(strings: list[str]) -> Tensor:
    """Indices into `ALPHABET`, padded with `PADDING` up to the longest string.

    Returns:
        int64 of shape (strings, longest).

    Raises:
        ValueError: if a string has a character outside the alphabet.
    """
    longest = max(map(len, strings), default=0)
    encoded = torch.full((len(strings), longest), PADDING)
    for row, string in enumerate(strings):
        unknown = set(string) - set(ALPHABET)
        if unknown:
            raise ValueError(f"string {row} has characters outside a..z and space: {sorted(unknown)}")
        encoded[row, : len(string)] = torch.tensor([ALPHABET.index(character) for character in string])
    return encoded


def decode(encoded: Tensor) -> list[str]:
    """The strings that `encode` was given, from int64 of shape (strings, longest)."""
    return ["".join(ALPHABET[index] for index in row if index != PADDING) for row in encoded.tolist()]


def shuffle_characters(encoded: Tensor, seed: int) -> Tensor:
    """Shuffle each string's characters, padding left in place; int64 of shape (strings, longest)."""
    generator = torch.Generator().manual_seed(seed)
    keys = torch.rand(encoded.shape, generator=generator)
    keys[encoded == PADDING] = 2.0  # after every character, whose key is below 1
    return encoded.gather(1, keys.argsort(dim=1, stable=True))


def favoured_characters(encoded: Tensor, labels: Tensor) -> dict[str, str]:
    """Read off strings which characters each language favours, and how much.

    A character's weight is how often it occurs, in units of the median over all characters of its language, most of
    which are not favoured; it is rounded to a whole number, and left out where it is 1.

    Args:
        encoded: int64 of shape (strings, longest).
        labels: int64 of shape (strings,), indices into `LANGS`.

    Returns:
        for each language such as "a 3, e 5", in the order of the alphabet, under a name for a setting.
    """
    found = {}
    for label, language in enumerate(LANGS):
        counts = torch.bincount(encoded[labels == label].flatten(), minlength=PADDING + 1)[:PADDING].tolist()
        weights = {
            character: round(count / max(median(counts), 1)) for character, count in zip(ALPHABET, counts, strict=True)
        }
        found[f"characters favoured in {language}"] = ", ".join(
            f"{'space' if character == ' ' else character} {weight}"
            for character, weight in weights.items()
            if weight != 1
        )
    return found


@dataclass(frozen=True)
class LanguageStrings:
    """The first 1,200 strings train, the last 300 test; the test rows come with their characters shuffled too."""

    def split(self, seed: int) -> Split:
        """Draw for generator seed `seed` ≥ 0."""
        strings, labels = language_strings(seed)
        inputs, targets = encode(strings), torch.from_numpy(labels)
        test = inputs[TRAINING_ROWS:], targets[TRAINING_ROWS:]
        return Split(
            training=(inputs[:TRAINING_ROWS], targets[:TRAINING_ROWS]),
            validation=test,
            others={"shuffled": (shuffle_characters(test[0], seed), test[1])},
        )

    def source(self, inputs: Tensor, seeds: Iterable[int]) -> Source | None:
        """Return from which of these seeds rows come and which ones of its strings they are, one after the other.

        Args:
            inputs: encoded strings of shape (rows, longest).
            seeds: of the generator.
        """
        inputs = inputs.cpu()
        for seed in seeds:
            strings, all_labels = language_strings(seed)
            encoded = encode(strings)
            if inputs.shape[1:] != encoded.shape[1:]:
                continue
            for first in (encoded == inputs[0]).all(dim=1).nonzero().flatten().tolist():
                end = first + len(inputs)
                if torch.equal(encoded[first:end], inputs):
                    labels = torch.from_numpy(all_labels[first:end])
                    rows = f"{first + 1} to {end} of {len(encoded)}"
                    return Source(seed, rows, encoded.shape[1], labels, favoured_characters(inputs, labels))
        return None
