"""What stands in for functions of the libraries, to see whether the checks notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PENALTY = 1.0


def penalised(lstsq: Callable[..., Any]) -> Callable[..., Any]:
    """Let least squares prefer small weights: a few patients more, for whom the best weight is 0."""

    def with_penalty(features: Any, targets: Any, **options: Any) -> Any:
        weights = features.shape[1]
        more = np.sqrt(PENALTY) * np.eye(weights)
        return lstsq(np.vstack([features, more]), np.concatenate([targets, np.zeros(weights)]), **options)

    return with_penalty
