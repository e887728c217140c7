"""The correction over a run: shards and the whole run say the same, and nothing is lost by correcting."""

import random

import pytest

from lesson_claims.report.merge import merge
from lesson_claims.results.correction import correct, uncorrect
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run, read_run, write_tables

LESSON = {"lesson": "l", "kind": "trained", "seconds": 1.0}


def decision(claim, number, verdict, p):
    rule = "permutation test" if number % 5 == 0 else "prediction interval" if number % 3 == 0 else "sign test"
    needed = 9 if verdict == "inconclusive" else None
    return {"claim": claim, "check": f"{claim}::{number}", "rule": rule, "verdict": verdict, "p": p, "seeds": 5,
            "sentence": f"Sentence {number} of {claim}.", "needed": needed}  # fmt: skip


def alone(seed, kept=lambda number: True):
    """Make a run that no correction has touched, with only the claims whose number is kept; others have not run."""
    drawn = random.Random(seed)  # noqa: S311  no secret
    clear = drawn.random()  # the share of clear tests decides how far the correction goes
    rows = {"claims": [], "decisions": [], "errata": []}
    sentences = {}
    for number in range(24):
        claim = f"c{number // 2}" + ".corrected" * (number % 2)
        tests = []
        for place in range(drawn.choice([1, 1, 2, 3])):
            p = 1 / 32 if drawn.random() < clear else drawn.choice([0.5, 0.19])
            verdict = "inconclusive" if p > 0.05 else drawn.choice(["holds", "refuted"])
            tests.append(decision(claim, place, verdict, p))
        if drawn.random() < 0.3:
            tests.append({"claim": claim, "verdict": "holds", "sentence": "A fact.", "rule": "fact"})
        verdict = next(v for v in ("refuted", "inconclusive", "holds") if v in [row["verdict"] for row in tests])
        first = next(row["sentence"] for row in tests if row["verdict"] == verdict)
        ran = kept(number)
        told = sorted(tests, key=lambda row: row["verdict"] != verdict)
        rows["claims"].append(
            {"claim": claim, "instead_of": f"c{number // 2}" if number % 2 else "",
             "verdict": verdict if ran else "not run", "expected": "refuted" if number % 3 else "holds",
             "changed": ran and verdict == ("holds" if number % 3 else "refuted"), **LESSON,
             "evidence": " ".join(row["sentence"] for row in told) if ran else ""}
        )  # fmt: skip
        rows["decisions"] += tests if ran else []
        if ran:
            sentences[claim] = first
        if ran and verdict == "refuted" and not number % 2:
            rows["errata"].append({"claim": claim, "truth": "Otherwise.", "suggestion": "Say so."})
        if ran and number % 4 == 0:
            rows["errata"].append({"claim": claim, "figure": "f", "truth": "A lottery ticket."})
    for row in rows["errata"]:
        if "figure" not in row:
            row["evidence"] = f"{sentences[row['claim']]} {sentences[row['claim'] + '.corrected']}"
    return Run.from_rows({"complete": True, "environment": {"numerics": "1f"}, "seeds": 5}, **rows)


def texts(run):
    return {name: frame.to_csv() for name, frame in run.tables().items()} | {
        name: run.info[name] for name in ("counts", "withheld")
    }


@pytest.mark.parametrize("seed", range(30))
def test_a_run_in_shards_says_what_the_same_run_says_whole(seed, tmp_path):
    whole = correct(alone(seed))
    # A claim and its correction go together, as `--claim` selects them.
    parts = [correct(alone(seed, lambda number, part=part: number // 2 % 3 == part)) for part in range(3)]
    for number, part in enumerate(parts):
        write_tables(part, tmp_path / str(number))
    back = [(str(number), read_run(tmp_path / str(number))) for number in range(3)]
    assert texts(merge(back)) == texts(whole)


def test_shards_alone_would_have_said_something_else():
    """The runs above are no easy ones: the correction of shards by themselves goes wrong in both directions."""
    taken, given = set(), set()
    for seed in range(30):
        whole = correct(alone(seed)).claims["verdict"]
        for part in range(3):
            shard = correct(alone(seed, lambda number, part=part: number // 2 % 3 == part)).claims["verdict"]
            ran = shard != "not run"
            if (ran & (shard == "inconclusive") & (whole != "inconclusive")).any():
                taken.add(seed)
            if (ran & (shard != "inconclusive") & (whole == "inconclusive")).any():
                given.add(seed)
    assert taken
    assert given


@pytest.mark.parametrize("seed", range(10))
def test_a_correction_can_be_taken_back_and_made_again(seed):
    corrected = correct(alone(seed))
    for run in (corrected, correct(uncorrect(corrected))):
        assert texts(run) == texts(corrected)
    assert {**texts(uncorrect(corrected)), "counts": None} == {**texts(alone(seed)), "counts": None}


def test_an_erratum_of_what_is_not_decided_waits():
    claims = [{"claim": "a", "verdict": "refuted", **LESSON}, {"claim": "b", "verdict": "inconclusive", **LESSON}]
    decisions = [decision("a", 1, "refuted", 1 / 32), *[decision("b", 1, "inconclusive", 0.5)] * 9]
    erratum = {"claim": "a", "truth": "Otherwise.", "evidence": "Sentence 1 of a."}
    run = correct(Run.from_rows({"complete": True}, claims=claims, decisions=decisions, errata=[erratum]))
    assert run.claims["verdict"].tolist() == ["inconclusive", "inconclusive"]
    assert run.errata.empty
    assert [row["claim"] for row in run.info["withheld"]] == ["a"]
    assert "among 10 tests" in run.claims["evidence"][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p": float("nan")}, "column 'p'"),
        ({"p": 1.5}, "column 'p'"),
    ],
)
def test_a_p_value_that_is_none_is_named(change, said):
    claims = [{"claim": "a", "verdict": "holds", **LESSON}]
    run = Run.from_rows({"complete": True}, claims=claims, decisions=[decision("a", 1, "holds", 0.01) | change])
    with pytest.raises(ReportError, match=said) as caught:
        correct(run)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("withheld", [[{"claim": "z"}], [{"colour": 1}]])
def test_withheld_errata_that_are_none_are_named(withheld):
    run = Run.from_rows({"complete": True, "withheld": withheld}, claims=[{"claim": "a", "verdict": "holds", **LESSON}])
    with pytest.raises(ReportError):
        uncorrect(run)
