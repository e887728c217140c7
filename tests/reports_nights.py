"""Synthetic runs for the tests of history and drift."""

from datetime import UTC, datetime, timedelta

import numpy as np

from lesson_claims.drift.tonight import drift_of, write_drift
from lesson_claims.report.build import build
from lesson_claims.results import history
from lesson_claims.results.tables import Run, write_tables

START = datetime(2026, 1, 1, 3, tzinfo=UTC)
ENVIRONMENT = {"torch": "2.13.0", "platform": "Linux-6.1-x86_64", "device": "cpu", "numerics": "aa", "workers": 2}


def night(number=0, *, shift=0.0, seeds=20, exact="19266", single="0.25", kind="trained", verdict="holds",
          sample=None, page="0.9", wins=None, drop=(), environment=None, **info):  # fmt: skip
    """Return the run of one night: three claims; an exact, a float and a trained figure."""
    rng = np.random.default_rng(number)
    values = 0.9 + shift + 0.02 * rng.standard_normal(seeds) if sample is None else sample
    claims = [("a.sizes", "exact", "holds"), ("a.mean", "float", "holds"), ("b.accuracy", kind, verdict)]
    figures = [("a.sizes", "parameters", "exact", exact, 0.0), ("a.mean", "mean", "float", single, 1e-3),
               ("b.accuracy", "accuracy", "trained", page, None)]  # fmt: skip
    return Run.from_rows(
        info={"complete": True, "started": (START + timedelta(days=number)).isoformat(), "seeds": seeds,
              "commit": "c0ffee", "environment": {**ENVIRONMENT, **(environment or {})}, **info},
        claims=[{"claim": c, "lesson": "a", "kind": k, "verdict": v,
                 **({"wins": wins, "seeds": seeds} if c == "b.accuracy" and wins is not None else {})}
                for c, k, v in claims if c not in drop],
        measurements=[{"claim": c, "figure": f, "kind": k, "measured": m, "tolerance": t}
                      for c, f, k, m, t in figures if c not in drop and f not in drop],
        samples=[{"claim": "b.accuracy", "figure": "accuracy", "seed": 1000 * (number + 1) + s, "value": float(v)}
                 for s, v in enumerate(values)],
    )  # fmt: skip


def written(run, folder):
    """Write the tables of a run into `folder` and return it."""
    write_tables(run, folder)
    return folder


def compared(folder, *runs):
    """Keep the runs in a history below `folder`, compare the last with it, and return the folder of its pages."""
    for run in runs:
        history.append(folder / "history", run)
    report = written(runs[-1], folder / "report")
    write_drift(*drift_of(folder / "history", report), report)
    build(report)
    return report


def eventful():
    """Return nights with a new version of torch on the 4th, and on the 7th a drop in accuracy and another count."""
    return [
        night(number, shift=-0.1 * (number >= 6), exact="19266" if number < 6 else "19300",
              environment={"torch": "2.13.0" if number < 3 else "2.14.0"})
        for number in range(8)
    ]  # fmt: skip
