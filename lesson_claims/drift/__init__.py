"""Whether a number of the lessons moved: one run against the history of its device kind.

`compare` judges every claim and figure of a run, `tonight` does so for a report directory. `rank_tests` and `tails`
hold the statistics of the drift test, `seeds` applies them to the nights of a figure, `levels` says what follows an
alarm. `values`, `trained` and `verdicts` are the rules for single numbers, samples over seeds and verdicts, `missing`
that for what is not there. `past` is what a run is compared with, `upgrade` compares the same seeds under two versions,
`revisions` two states of a baseline. `environment` says what else changed, `trend` makes the series, `text` the words.
`simulate` and `populations` measure how often the drift tests err and how soon they find a change.
"""
