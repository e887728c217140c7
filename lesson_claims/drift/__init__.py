"""Whether a number of the lessons moved: one run against the history of its device kind.

`compare` judges every claim and figure of a run, `tonight` does so for a report directory. `rank_tests` holds the
statistics of the drift test, `values` and `trained` the rules for single numbers and for samples over seeds, `missing`
that for what is not there, `environment` what else changed; `trend` makes the series, `text` the words. `simulate` and
`populations` measure how often the drift test errs and how soon it finds a change.
"""

from lesson_claims.drift.compare import Drift, compare
from lesson_claims.drift.judgement import Judgement

__all__ = ["Drift", "Judgement", "compare"]
