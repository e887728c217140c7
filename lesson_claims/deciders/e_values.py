"""E-values: evidence that may be looked at after every seed, and each time decided on.

An e-value is the capital of a gambler who starts with 1 and bets against a hypothesis at fair odds. While the
hypothesis is true, the capital ever reaches 1/a with probability at most a, however often one looks (Ville 1939;
Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic statistics and safe anytime-valid inference", 2023). A p-value has
no such promise: followed from seed to seed it errs more often than it says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

BETS = ((0.35, 1.0), (0.5, 0.65), (0.15, 0.4))
"""The parts of the capital, and the stake of each: the share of it that a win adds and any other seed takes away.

The first part stakes everything, which unanimous seeds reward most; the second does best where four seeds of five
agree, the third where seven of ten do. docs/statistics.md compares other parts and stakes.
"""

LARGEST_LOG = 690.0
"""The logarithm at which a part is cut, lest it overflow."""

PLACES = (np.arange(200) + 0.5) / 200
"""Where probabilities are tried between a stated share (0) and the end of its side (1)."""


def majority_e(wins: Any, others: Any) -> Any:
    """Return the evidence that something happens in more than half of all seeds, elementwise, in [0, inf).

    `wins` and `others` count the seeds in which it did and did not. E = 0.35·2^w·[l = 0] + 0.5·1.65^w·0.35^l +
    0.15·1.4^w·0.6^l: a win multiplies a part by 1 + stake, another seed by 1 − stake, so that at a share of one half
    or less the expected capital never grows. Values stop at about 1e300.
    """
    w, others = np.asarray(wins, dtype=np.float64), np.asarray(others, dtype=np.float64)
    grown = ((part, w * np.log1p(stake) + special.xlog1py(others, -stake)) for part, stake in BETS)
    return sum(part * np.exp(np.minimum(log, LARGEST_LOG)) for part, log in grown)


def share_e(successes: Any, trials: Any, share: Any, *, above: bool) -> Any:
    """Return the evidence that the probability of success lies above `share`, or below it, elementwise, in [0, inf].

    `share` lies in [0, 1]. The mean, over probabilities on that side, of their likelihoods divided by that of `share`;
    0 where no probability lies there. They are spread as Jeffreys' weights are: evenly in arcsin √probability. Source
    of such means: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970.
    """
    hits, n, p = (np.asarray(value, dtype=np.float64)[..., None] for value in (successes, trials, share))
    angle, end = np.arcsin(np.sqrt(p)), np.pi / 2 if above else 0.0
    beyond = np.sin(angle + (end - angle) * PLACES) ** 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        grown = special.xlogy(hits, beyond / p) + special.xlogy(n - hits, (1 - beyond) / (1 - p))
        evidence = np.exp(grown).mean(-1)
    return np.where(p[..., 0] < 1 if above else p[..., 0] > 0, evidence, 0.0)
