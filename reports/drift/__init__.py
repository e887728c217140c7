"""Whether a number of the lessons moved: one run against the history of its device kind.

`compare` judges every claim and figure of tonight's run; `evidence` holds the statistics, `values` and `trained` the
rules for single numbers and for samples over seeds, `presence` what is missing, `environment` what else changed.
"""

from reports.drift.compare import Drift, compare
from reports.drift.finding import Finding, State

__all__ = ["Drift", "Finding", "State", "compare"]
