"""week07, day 1: the memory task, a baseline of digit counts, and the recurrence by hand and by library."""

from __future__ import annotations

import numpy as np

from claims.deciders import equivalent, share, that
from claims.evidence import EvidenceOf
from claims.marks import claim, refuted
from claims.record import Decide, Measure
from lessons.counts import COUNTS_BASELINE
from lessons.memory_task import memory_task

PAGE_ROWS = 8000
PAGE_LENGTH = 8


@claim("week07.day1.sequence-data")
def test_sequence_data(measure: Measure) -> None:
    sequences, labels = memory_task(PAGE_ROWS, PAGE_LENGTH, seed=0)
    measure("training rows", sequences.shape[0])
    measure("training columns", sequences.shape[1])
    for row in range(4):
        measure(f"sequence {row}", "".join(map(str, sequences[row].tolist())))
        measure(f"sequence {row} first digit", sequences[row, 0])
        measure(f"sequence {row} repeated later", bool(labels[row]))


@claim("week07.day1.exactly-balanced")
@refuted
def test_exactly_balanced(measure: Measure, decide: Decide) -> None:
    _, labels = memory_task(PAGE_ROWS, PAGE_LENGTH, seed=0)
    balance = labels.double().mean().item()
    measure("class balance", balance)
    decide(that(balance == 0.5, f"{balance:.4f} of the page's own {PAGE_ROWS} training rows are labelled 1."))


@claim("week07.day1.exactly-balanced.corrected")
def test_exactly_balanced__corrected(decide: Decide) -> None:
    labels = np.concatenate([memory_task(PAGE_ROWS, PAGE_LENGTH, seed)[1] for seed in range(50)])
    decide(
        share(int(labels.sum()), len(labels), equals=0.5, margin=0.005, what="the share of label 1 over 50 data seeds")
    )


@claim("week07.day1.counts-near-chance")
def test_counts_near_chance(measure: Measure, decide: Decide, evidence: EvidenceOf) -> None:
    linear = evidence(COUNTS_BASELINE)
    measure("logistic regression accuracy", linear["accuracy"])
    measure("majority class accuracy", linear["majority accuracy"])
    decide(equivalent(linear["accuracy"], 0.5, margin=0.03, names=("a linear model on digit counts", "chance")))
