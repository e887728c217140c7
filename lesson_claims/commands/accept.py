"""The subcommand `accept`: what moved becomes the baseline of a history; or runs become the baseline that is in git."""

import argparse
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from lesson_claims.drift.compare import Drift
from lesson_claims.drift.judgement import Judgement
from lesson_claims.drift.tonight import newest_drift
from lesson_claims.results.acceptance import (
    Key,
    accept_claims,
    accept_figures,
    is_for_baseline,
    measured,
    name_of,
    runs_to_accept,
)
from lesson_claims.results.aliases import read_aliases
from lesson_claims.results.baseline import BASELINE
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import DriftState


def add_parser(subparsers: Any) -> None:
    """Describe `accept` to the command line."""
    parser = subparsers.add_parser(
        "accept",
        help="make what moved the baseline",
        description="In a history: what moved, and what the runs measured of it, has its baseline from the first of"
        " the runs on; all else keeps its own. In the baseline that goes with the code: the runs replace what other"
        " runs say of the claims that they measured; commit the change. The reason is kept.",
        epilog="example: lesson-claims accept --history history night-2 --reason 'new Adam in torch 2.14'"
        " --claim 'loss.*' 'page.sizes/rows'",
    )
    parser.add_argument(
        "--history", metavar="DIR", default=BASELINE, help=f"a history, or a baseline (default: {BASELINE})"
    )
    parser.add_argument("--reason", metavar="TEXT", required=True, help="why the new numbers are right")
    parser.add_argument(
        "--claim", metavar="PATTERN", nargs="+", default=[],
        help="accept only these: CLAIM with its figures, or, in a history, CLAIM/FIGURE (default: all that moved and"
        " was measured; what is gone is accepted by its name alone)",
    )  # fmt: skip
    parser.add_argument(
        "--platforms", action="store_true", help="accept the platform spread of the runs, and nothing else of them"
    )
    parser.add_argument("--aliases", metavar="FILE", help="renamed claims (default: aliases.toml of the history)")
    parser.add_argument("run", metavar="RUN", nargs="+", help="the report directory of a run")


def run(args: argparse.Namespace) -> int:
    """List what will be accepted, accept it, and return 0."""
    for pattern in args.claim:
        if not any(character.isalnum() for character in pattern):
            raise ReportError(
                f"--claim '{pattern}': would accept whatever is there; leave --claim out to accept what moved and was"
                " measured, or name claims or figures"
            )
    runs = runs_to_accept(args.run, args.reason)
    baseline = is_for_baseline(args.history)
    if args.platforms and not baseline:
        raise ReportError(f"{args.history}: a history keeps no platform spread; give a baseline, such as {BASELINE}")
    if baseline:
        acceptance = accept_claims(args.history, runs, args.reason, args.claim, platforms=args.platforms)
        what = "platform spread" if args.platforms else "baseline"
        claims = ", ".join(args.claim) if args.claim else "all claims that they measured"
    else:
        figures = _listed(args, runs)
        acceptance = accept_figures(args.history, runs, args.reason, figures)
        what, claims = "baseline", ", ".join(acceptance.names)
    more = f" (and {len(runs) - 1} more)" if len(runs) > 1 else ""
    print(f"{acceptance.run}{more} is the {what} of {claims}: {acceptance.reason}")
    return 0


def _listed(args: argparse.Namespace, runs: Sequence[Run]) -> list[Key]:
    """Print what moved, what of it is accepted and why the rest is not; return what is.

    Raises ReportError where nothing is.
    """
    drift = newest_drift(args.history, runs, args.aliases)
    names = read_aliases(args.history, args.aliases)
    there = {names.name(*key) for run in runs for key in measured(run)}
    whole = not all(run.info["selected"] or run.info.get("partial") for run in runs)
    newest = max(run.name for run in runs)
    known = {text for each in drift.judgements for text in (each.claim, each.name)}
    for pattern in args.claim:
        if not any(fnmatchcase(text, pattern) for text in known):
            raise ReportError(f"--claim {pattern}: no claim or figure matches; see claims.csv and measurements.csv")
    accepted: dict[Key, str] = {}
    left: list[tuple[Judgement, str]] = []
    for each in [*drift.new, *drift.open]:
        named = any(fnmatchcase(text, pattern) for text in (each.claim, each.name) for pattern in args.claim)
        if args.claim and not named:
            left.append((each, "not among those of --claim"))
        elif each.since > newest:
            left.append((each, f"it moved with {each.since}, after the run"))
        elif (each.claim, each.figure) in there:
            accepted[each.claim, each.figure] = each.sentence
        elif each.state is DriftState.VANISHED and whole:
            if named:
                accepted |= dict.fromkeys(_of(each, drift, there), each.sentence)
            else:
                left.append((each, "it is gone; name it with --claim to accept that"))
        else:
            left.append((each, "the run did not measure it"))
    _print("moved, and accepted:", [f"{name_of(*key)}: {said}" for key, said in accepted.items()])
    _print("moved, and not accepted:", [f"{each.name}: {each.sentence} ({why})" for each, why in left])
    if accepted:
        return list(accepted)
    if left:
        raise ReportError("nothing was accepted; the lines above say why")
    raise ReportError(f"{args.history}: nothing moved, so there is nothing to accept")


def _of(gone: Judgement, drift: Drift, there: set[Key]) -> list[Key]:
    """Return what is gone with a claim: its figures, too; or the figure alone."""
    keys = [(each.claim, each.figure) for each in drift.judgements if each.claim == gone.claim]
    return [key for key in keys if key not in there] if not gone.figure else [(gone.claim, gone.figure)]


def _print(title: str, lines: Sequence[str]) -> None:
    if lines:
        print("\n".join([title, *(f"  {line}" for line in lines)]), flush=True)
