"""A made-up run, as large and as varied as a real one, for tests and benchmarks of the report."""

import math
import random

import pandas as pd

from lesson_claims.results.tables import Run, read_run, write_tables

DAYS = (
    "the recurrence", "why plain RNNs forget", "building a classifier", "direction and length", "failure modes",
    "predicting the next element", "where recurrence stands",
)  # fmt: skip
STATEMENTS = (
    "The last output along the sequence equals the final state.",
    "A plain RNN's gradient falls away to nothing as sequences lengthen.",
    "Reading both ways helps a great deal when the whole sequence is there.",
    "Clipping caps the gradient's norm and leaves its direction unchanged.",
    "A linear model on digit counts stays near chance, below the majority class.",
    "The packed result is the right one: it equals running each sequence alone.",
    "With `batch_first=True` the layer reads (batch, sequence, features).",
    "GRU and LSTM are usually indistinguishable in accuracy.",
)
OURS = 10
"""Place of the claim that the page does not make."""
ADDED = 11
"""Place of a claim that holds and has an addition."""
UNEXPECTED = (23, 57)
"""Places of the claims whose verdict is not the expected one."""
SENTENCES = {
    "holds": "On {n} paired seeds the difference is 0.31 (95 % interval 0.24 to 0.38): the ordering holds.",
    "refuted": "Largest parameter change 1.636 with clipping and 1.636 without: the step is not bounded.",
    "inconclusive": "The GRU exceeds the LSTM in 3 of 5 seeds. So far it depends on the seed: 3 of 5.",
    "error": "The check stopped: RuntimeError: expected a tensor of shape (2, 5).",
    "not run": "",
}


WINS: dict[str, dict[int, int]] = {"holds": {5: 5}, "refuted": {5: 0}, "inconclusive": {5: 3}, "error": {}}
"""In how many of so many seeds a claim's weakest test agrees with it."""


def realistic(complete: bool = True, seeds: int = 5, per_day: int = 13) -> Run:
    """Make a run of about 120 claims, 300 measurements, 40 strips and 20 plots, or a smaller one; always the same."""
    random_ = random.Random(7)  # noqa: S311
    rows: dict[str, list[dict]] = {
        "claims": [], "measurements": [], "samples": [], "decisions": [], "curves": [], "errata": []
    }  # fmt: skip
    for day in range(1, len(DAYS) + 1):
        for number in range(per_day):
            _claim(rows, random_, "week07", f"week07.day{day}.claim-{number}", f"Day {day}", f"section {number}", seeds)
    for number in range(per_day - 1):
        _claim(rows, random_, "detector", f"detector.claim-{number}", "", "", seeds)
    if not complete:
        for claim in rows["claims"][-20:]:
            claim["verdict"] = "not run"
    counts = {}
    for claim in rows["claims"]:
        counts[claim["verdict"]] = counts.get(claim["verdict"], 0) + 1
    names = [claim["claim"] for claim in rows["claims"]]
    info = {
        "complete": complete,
        "started": "2026-03-01T02:30:00Z",
        "seconds": 372.4,
        "selected": "",
        "seeds": seeds,
        "options": {"device": "cpu", "seeds": str(seeds)},
        "counts": counts,
        "exit_status": 0 if complete else 1,
        "problems": [] if complete else ["worker gw1 died in claims/test_week07_day5.py::test_length_sweep"],
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "dirty": False,
        "environment": {
            "python": "3.11.7", "torch": "2.13.0", "numpy": "2.4.1", "pandas": "3.0.0", "scikit-learn": "1.8.0",
            "scipy": "1.17.0", "platform": "Linux-6.1-x86_64", "processor": "x86_64 with AVX-512",
            "cpu capability": "AVX512", "blas": "mkl", "threads": 1, "workers": 2, "device": "cpu",
            "device name": "", "numerics": "9f2c51d07a",
        },
        "lessons": {
            "week07": {"title": "Recurrent Networks",
                       "parts": [{"name": f"Day {n}", "title": title} for n, title in enumerate(DAYS, start=1)]},
            "detector": {"title": "A toy language detector", "parts": []},
        },
        "checklist": [
            {"advice": f"Advice number {n}: check the shapes before the loss.",
             "claims": names[n * 9 : n * 9 + n % 4 + 1]}
            for n in range(8)
        ],
        "undecided": [
            {"lesson": "week07", "part": "Day 7", "where": "the end", "says": "Most people use it.",
             "reason": "It is about people, and nothing here observes them."},
            {"lesson": "detector", "part": "", "where": "", "says": "It pays on small devices.",
             "reason": "No such device is here."},
        ],
        "see": {names[0]: [names[5], names[-1]], names[5]: [names[0]]},
        "controls": {names[0]: [
            {"breaks": "gathers one step early", "outcome": "caught", "when": "2026-03-01T02:30Z"},
            {"breaks": "takes the mean", "outcome": "missed", "when": "2026-03-02T02:30Z"},
            {"breaks": "adds up", "outcome": "", "when": ""},
        ]},
        "source": {f"claims/test_{name}.py::test": f"claims/test_{name}.py#L{n}" for n, name in enumerate(names)},
    }  # fmt: skip
    return Run.from_rows(info=info, **rows)


def _claim(rows, random_, lesson, name, part, where, seeds):
    place = len(rows["claims"])
    verdict = {3: "refuted", 9: "error", OURS: "holds", ADDED: "holds", 23: "refuted", 57: "inconclusive"}.get(
        place, random_.choices(["holds", "refuted", "inconclusive", "error"], [80, 16, 5, 1])[0]
    )
    statement = STATEMENTS[place % len(STATEMENTS)]
    kind = ("exact", "float", "trained", "behaviour", "ordering", "scaling")[place % 6]
    check = f"claims/test_{name}.py::test"
    expected = "holds" if place in UNEXPECTED else verdict if verdict in ("holds", "refuted") else "open"
    claim = {
        "claim": name, "lesson": lesson, "part": part, "where": where, "statement": statement, "kind": kind,
        "verdict": verdict, "expected": expected, "changed": place in UNEXPECTED, "wins": WINS[verdict].get(seeds),
        "ours": place == OURS, "seeds": seeds, "checks": 1,
        "evidence": SENTENCES[verdict].format(n=seeds), "seconds": random_.random() * 9,
    }  # fmt: skip
    rows["claims"].append(claim)
    rows["decisions"] += [] if verdict == "error" else [
        {"claim": name, "check": check, "rule": "paired t interval", "verdict": verdict,
         "sentence": claim["evidence"], "estimate": 0.31, "low": 0.24, "high": 0.38, "p": 1.2e-5,
         "level": 0.05, "wins": WINS[verdict].get(seeds), "seeds": seeds}
    ]  # fmt: skip
    for figure in _figures(random_, kind):
        values = figure.pop("samples", ())
        rows["measurements"].append({"claim": name, "check": check, "device": "cpu", **figure})
        rows["samples"] += [
            {"claim": name, "figure": figure["figure"], "seed": seed, "value": value}
            for seed, value in enumerate(values)
        ]
    if place % 6 == 4:
        rows["curves"] += _curves(name, place)
    if verdict == "refuted":
        rows["claims"].append(
            {**claim, "claim": f"{name}.corrected", "instead_of": name, "verdict": "holds", "expected": "holds",
             "changed": False,
             "statement": "Clipping bounds the gradient handed over; only with plain SGD is the step bounded.",
             "evidence": SENTENCES["holds"].format(n=seeds)}
        )  # fmt: skip
        rows["errata"].append(
            {"claim": name, "remark": "erratum", "figure": "", "part": part, "where": where, "says": statement,
             "evidence_for_truth": SENTENCES["holds"].format(n=seeds),
             "truth": "What is bounded is the gradient handed to the optimiser; Adam rescales it.",
             "evidence": SENTENCES["refuted"], "suggestion": "Say “gradient” where the page says “step”."}
        )  # fmt: skip
    if place == ADDED:
        rows["errata"].append(
            {"claim": name, "remark": "addition", "figure": "", "part": part, "where": where, "says": statement,
             "truth": "It takes twice the epochs.", "evidence": claim["evidence"], "suggestion": "Train for longer."}
        )  # fmt: skip


def _figures(random_, kind):
    if kind == "exact":
        return [
            {"figure": f"output shape[{n}]", "kind": "exact", "printed": str(n + 2), "measured": n + 2,
             "agreement": "reproduced"}
            for n in range(random_.choice([3, 9]))
        ]  # fmt: skip
    if kind == "float":
        values = [random_.uniform(-1, 1) for _ in range(4)]
        return [
            {"figure": f"state after a, c[{n}]", "kind": "float", "printed": f"{value:.3f}", "measured": value,
             "agreement": "reproduced", "tolerance": 0.001}
            for n, value in enumerate(values)
        ] + [{"figure": "gradient, length 100", "kind": "float", "printed": "6.320e-28", "measured": 6.3199871e-28,
              "agreement": "within", "tolerance": 1e-30}]  # fmt: skip
    if kind == "trained":
        figures = []
        for cell, centre in (("last", 0.99), ("mean over positions", 0.82), ("maximum", 0.98)):
            samples = [min(1.0, random_.gauss(centre, 0.02)) for _ in range(5)]
            figures.append(
                {"figure": f"pooling {cell}, accuracy", "kind": "trained", "printed": f"{centre + 0.006:.4f}",
                 "measured": samples[0], "low": min(samples) - 0.03, "high": max(samples) + 0.03, "seeds": 5,
                 "agreement": random_.choice(["within", "outside"]), "samples": samples, "seconds": 4.2}
            )  # fmt: skip
        return figures
    if kind == "scaling":
        return [{"figure": "operations, length 64", "kind": "exact", "measured": 82817975, "unit": "FLOP",
                 "agreement": "not printed"}]  # fmt: skip
    return [{"figure": "largest difference", "measured": 3.1e-08, "agreement": "not printed"}]


def _curves(name, place):
    def point(picture, mark, series, x, y, scale="linear", **more):
        return {"claim": name, "picture": picture, "mark": mark, "series": series, "x": x, "y": y,
                "x_scale": "linear", "y_scale": scale, **more}  # fmt: skip

    if place % 3 == 1 and place % 2 == 0 and place % 4 == 0:
        axes = {"x_label": "token", "y_label": "probability"}
        return [
            point("Next token at three temperatures", "bar", f"T = {t}", str(token), p, **axes)
            for t, sharp in ((0.2, 5), (1.0, 1), (2.0, 0.5))
            for token, p in enumerate(_softmax([sharp * math.sin(n) for n in range(6)]))
        ]
    if place % 8 == 2:
        axes = {"x_label": "step", "y_label": "gradient norm"}
        trace = [point("Gradient norm at each step", "line", "unclipped", n, 1.4 + math.sin(n / 5) + n % 7 / 5, **axes)
                 for n in range(375)]  # fmt: skip
        return [*trace, point("Gradient norm at each step", "limit", "clip at 1.0", "", 1.0, **axes)]
    axes = {"x_label": "sequence length", "y_label": "gradient at the first step"}
    return [
        point("Gradient against length", "line", cell, n, (base**n), "log", low=base**n / 5, high=base**n * 5, **axes)
        for cell, base in (("plain RNN", 0.55), ("LSTM", 0.7), ("GRU", 0.75))
        for n in (5, 20, 50, 100)
    ]


def _softmax(logits):
    weights = [math.exp(logit) for logit in logits]
    return [weight / sum(weights) for weight in weights]


NASTY = (
    '<img src=x onerror="document.title=1">', "<unk>", "=1+1", "a|b", "back\\slash", "x" * 10_000,
    "שלום עולם", "\u202eright to left", "None", "NA", "null", "nan", "</script><script>document.title=2</script>",
    "{{ 7*7 }}", "$\\frac$", "a\nb\tc", "\x00\x1b[31m", "café", "Ω=\u200b0", "a'b\"c`d`",
)  # fmt: skip


def nasty() -> Run:
    """Make a run in which every text is something that breaks careless reports."""
    rows: dict[str, list[dict]] = {
        "claims": [], "measurements": [], "samples": [], "decisions": [], "curves": [], "errata": []
    }  # fmt: skip
    for number, text in enumerate(NASTY):
        rows["claims"].append(
            {"claim": text, "lesson": text, "part": text, "where": text, "statement": text, "kind": "float",
             "verdict": "holds", "expected": "refuted", "changed": True, "evidence": text, "checks": 1}
        )  # fmt: skip
        rows["measurements"].append(
            {"claim": text, "figure": text, "printed": text, "measured": text, "unit": text, "device": text,
             "check": text, "agreement": "outside", "kind": "float"}
        )  # fmt: skip
        rows["measurements"].append(
            {"claim": text, "figure": "a NaN", "printed": "0.5", "measured": math.nan, "agreement": "outside",
             "low": math.nan, "high": math.inf}
        )  # fmt: skip
        for seed, value in enumerate([0.1, math.nan, math.inf, 0.3]):
            rows["samples"].append({"claim": text, "figure": "a NaN", "seed": seed, "value": value})
        rows["decisions"].append({"claim": text, "check": text, "rule": text, "verdict": "holds", "sentence": text,
                                  "estimate": math.nan, "p": math.nan})  # fmt: skip
        for x, y in ((text, 1.0), ("2", math.nan), ("3", -1.0), ("4", math.inf)):
            rows["curves"].append(
                {"claim": text, "picture": text, "mark": ("line", "bar")[number % 2], "series": text, "x": x, "y": y,
                 "x_label": text, "y_label": text, "x_scale": "log", "y_scale": ("log", "linear")[number % 3 == 0]}
            )  # fmt: skip
        rows["errata"].append(dict.fromkeys(("claim", "figure", "part", "where", "says", "truth", "suggestion"), text))
    info = {
        "complete": False, "started": NASTY[0], "selected": NASTY[0], "problems": list(NASTY), "commit": NASTY[0],
        "environment": dict(zip(NASTY, NASTY, strict=True)), "repository": "javascript:alert(1)",
        "lessons": {text: {"title": text, "parts": [{"name": text, "title": text}]} for text in NASTY},
        "checklist": [{"advice": text, "claims": [text]} for text in NASTY],
        "undecided": [dict.fromkeys(("lesson", "part", "where", "says", "reason"), text) for text in NASTY],
        "source": {text: text for text in NASTY}, "see": {text: list(NASTY) for text in NASTY},
        "controls": {text: [{"breaks": text, "outcome": text, "when": text}] for text in NASTY},
        "options": {"x": NASTY[0]},
    }  # fmt: skip
    return Run.from_rows(info=info, **rows)


def assert_the_same_when_written(run, folder):
    """Write a run, read it back, and compare."""
    write_tables(run, folder)
    again = read_run(folder)
    assert again.info == run.info
    for name, table in run.tables().items():
        pd.testing.assert_frame_equal(again.tables()[name], table)
