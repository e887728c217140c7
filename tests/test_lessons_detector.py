"""The detector's strings, their encoding, and the order-free rules on their counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lessons.character_counts import CHARACTER_COUNTS, character_counts, log_likelihoods
from lessons.detector import (
    ALPHABET,
    LANGS,
    PADDING,
    character_probabilities,
    decode,
    encode,
    language_strings,
    make_string,
    shuffle_characters,
)

STRINGS = st.lists(st.text(ALPHABET, max_size=30), min_size=1, max_size=8)


@given(st.sampled_from(LANGS), st.integers(0, 60), st.integers(0, 1000))
def test_a_string_has_its_length_and_its_seed_alone_decides_it(lang: str, length: int, seed: int) -> None:
    string, again = (make_string(lang, length, np.random.default_rng(seed)) for _ in range(2))
    assert len(string) == length
    assert set(string) <= set(ALPHABET)
    assert string == again


@given(STRINGS)
def test_decoding_undoes_encoding(strings: list[str]) -> None:
    assert decode(encode(strings)) == strings


def test_a_character_outside_the_alphabet_is_named() -> None:
    with pytest.raises(ValueError, match=r"string 1 .*'ß'"):
        encode(["gross", "groß"])


@given(STRINGS, st.integers(0, 1000))
def test_shuffling_keeps_each_strings_characters_and_its_padding(strings: list[str], seed: int) -> None:
    encoded = encode(strings)
    shuffled = shuffle_characters(encoded, seed)
    assert torch.equal(shuffled == PADDING, encoded == PADDING)
    assert [sorted(string) for string in decode(shuffled)] == [sorted(string) for string in strings]


def test_lengths_and_labels_stay_in_their_ranges_and_differ_between_seeds() -> None:
    strings, labels = language_strings(3)
    assert {len(string) for string in strings} == set(range(20, 60))
    assert set(labels.tolist()) == {0, 1, 2}
    assert strings != language_strings(4)[0]


@given(STRINGS)
def test_counts_are_those_of_str(strings: list[str]) -> None:
    expected = [[string.count(character) for character in ALPHABET] for string in strings]
    assert character_counts(encode(strings)).tolist() == expected


def test_the_likelihoods_of_all_short_strings_sum_to_one() -> None:
    strings = ["".join(characters) for characters in product(ALPHABET, repeat=2)]
    likelihoods = np.exp(log_likelihoods(character_counts(encode(strings))))
    np.testing.assert_allclose(likelihoods.sum(axis=0), np.ones(len(LANGS)))


def test_the_likeliest_language_is_the_one_that_favours_the_character() -> None:
    likelihoods = log_likelihoods(character_counts(encode(["q", "t", "c"])))
    assert [LANGS[index] for index in likelihoods.argmax(axis=1)] == ["fr", "en", "de"]
    expected = np.log([character_probabilities(lang)[ALPHABET.index("q")] for lang in LANGS])
    np.testing.assert_allclose(likelihoods[0], expected)


def test_rules_on_counts_are_far_above_chance_and_depend_on_the_seed_alone() -> None:
    outcome = CHARACTER_COUNTS.run(5, torch.device("cpu"))
    assert outcome == CHARACTER_COUNTS.run(5, torch.device("cpu"))
    assert all(0.85 < accuracy < 1 for accuracy in outcome.values())
