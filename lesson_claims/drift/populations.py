"""Seed distributions to simulate nights from: those of a real run, or the shapes that this suite's figures have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run

Floats = NDArray[np.float64]

FEWEST = 10
"""Fewest seeds that say anything of a distribution's shape."""


@dataclass(frozen=True)
class Population:
    """One figure's distribution over seeds: a kernel estimate around real values, so its modes are theirs.

    Attributes:
        claim, figure: whose it is.
        centres: shape (seeds,), the values that were measured.
        width: standard deviation of the kernel: half of Silverman's rule, which keeps modes apart.
    """

    claim: str
    figure: str
    centres: Floats
    width: float

    @property
    def share(self) -> bool:
        """Whether all values lie in [0, 1], so that a point is 0.01."""
        return bool((self.centres >= 0).all() and (self.centres <= 1).all())

    @property
    def deviation(self) -> float:
        """Standard deviation over seeds."""
        return float(np.hypot(self.centres.std(), self.width))

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Draw values; shares stay in [0, 1]."""
        x = rng.choice(self.centres, shape) + self.width * rng.standard_normal(shape)
        return np.clip(x, 0, 1) if self.share else x

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at `x`, ends of a share's range left aside."""
        z = (x[..., None] - self.centres) / self.width
        return np.asarray(np.logaddexp.reduce(-0.5 * z**2, axis=-1))


def population(claim: str, figure: str, values: Floats) -> Population:
    """Estimate a figure's distribution from its values at some seeds."""
    quarter, three_quarters = np.quantile(values, [0.25, 0.75])
    spread = min(values.std(), (three_quarters - quarter) / 1.34) or values.std()
    return Population(claim, figure, values, 0.5 * 0.9 * float(spread) * len(values) ** -0.2)


def from_run(run: Run) -> list[Population]:
    """Return the distribution of each figure of a run; figures with the very same values count once.

    Raises ReportError where no figure has enough seeds.
    """
    populations: dict[bytes, Population] = {}
    for (claim, figure), rows in run.samples.groupby(["claim", "figure"], sort=False):
        values = rows["value"].to_numpy(dtype=np.float64)
        if len(values) >= FEWEST and np.isfinite(values).all():
            populations.setdefault(np.sort(values).tobytes(), population(str(claim), str(figure), values))
    if not populations:
        raise ReportError(f"samples.csv: no figure has {FEWEST} finite seeds; run the suite with --seeds 20")
    return list(populations.values())


def shapes() -> list[Population]:
    """Return shapes that the suite's figures have, for when there is no run at hand."""
    grid = (np.arange(20) + 0.5) / 20
    normal = np.sqrt(2) * np.array([-1.39, -1.02, -0.81, -0.66, -0.53, -0.42, -0.32, -0.22, -0.13, -0.04])
    normal = np.concatenate([normal, -normal[::-1]])
    values = {
        "narrow": 0.98 + 0.007 * normal,
        "medium": 0.60 + 0.030 * normal,
        "wide": 0.75 + 0.070 * normal,
        "skewed to one": 1 - 0.25 * grid**6,
        "bimodal": np.where(grid < 0.4, 0.70, 0.93) + 0.02 * np.tile(normal[::2], 2),
        "rare failure": np.where(grid < 0.05, 0.50, 0.99),
        "constant": np.full(20, 1.0),
    }
    return [population("shapes", name, np.asarray(x)) for name, x in values.items()]
