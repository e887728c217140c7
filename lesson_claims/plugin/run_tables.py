"""The tables of a run, from what came back of its checks."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from lesson_claims.errata import errata
from lesson_claims.plugin.collected import Collected, Result
from lesson_claims.plugin.options import Session, environment_of
from lesson_claims.record import NOT_MEASURED, PRINTED, TYPICAL
from lesson_claims.recorded import weakest
from lesson_claims.registry import CORRECTED, Claim
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run
from lesson_claims.results.vocabulary import TOO_FEW_SEEDS, ClaimVerdict, Expectation, SettingAgreement
from lesson_claims.sabotage.results import DEFAULT, caught, standing
from lesson_claims.traceability import check_id

WORST_FIRST = (ClaimVerdict.ERROR, ClaimVerdict.REFUTED, ClaimVerdict.INCONCLUSIVE, ClaimVerdict.HOLDS)
"""Of several verdicts, the first of these that is among them is that of all together."""

ADDITION = "__addition"
"""How the name of a check ends that shows what a claim's addition says."""

DECIDED = (ClaimVerdict.HOLDS, ClaimVerdict.REFUTED)


class RunTables:
    """Makes the tables of a session's run."""

    def __init__(self, config: pytest.Config, session: Session, collected: Collected) -> None:
        self._config = config
        self._session = session
        self._collected = collected

    def claim_rows(self) -> list[dict[str, Any]]:
        """Return a row for each claim, with its verdict."""
        registry = self._session.registry
        checks: dict[str, list[str]] = {}
        for check in self._session.checks.values():
            checks.setdefault(check.claim, []).append(check.id)
        by_check = self._by_check()
        rows = []
        for claim in registry.claims.values():
            results = [result for check in checks[claim.id] for result in by_check.get(check, [])]
            selected = [node for node in self._collected.nodes if check_id(node) in checks[claim.id]]
            verdict = _verdict(
                results, partial=not self._all_ran(checks[claim.id], by_check), lost=len(selected) > len(results)
            )
            decisions = [decision for result in results for decision in result.decisions]
            wins = weakest(result.wins for result in results if result.wins)
            rows.append(
                {
                    "claim": claim.id,
                    "lesson": claim.lesson,
                    "part": claim.part,
                    "where": claim.where,
                    "statement": claim.says,
                    "instead_of": claim.page_id if claim.is_corrected else "",
                    "kind": claim.kind,
                    "verdict": verdict,
                    "expected": claim.expect,
                    "changed": _changed(verdict, claim, results),
                    "ours": claim.ours,
                    "wins": wins.wins if wins else None,
                    "seeds": wins.seeds if wins else max((row["seeds"] for row in decisions), default=0) or None,
                    "facts": _facts(decisions),
                    "evidence": _evidence(results, verdict),
                    "controls": caught(self._controls.get(claim.id, ())),
                    "checks": len(results),
                    "seconds": sum(result.seconds for result in results),
                }
            )
        return rows

    @cached_property
    def _controls(self) -> Mapping[str, list[dict[str, Any]]]:
        """What is known of the controls of each claim, from the last time that they were tried."""
        project, registry = self._session.project, self._session.registry
        try:
            return standing(project, registry, list(self._session.checks.values()), project.root / DEFAULT)
        except ReportError as error:
            self._collected.problems.append(str(error))
            return {}

    def _all_ran(self, checks: list[str], by_check: dict[str, list[Result]]) -> bool:
        return all(by_check.get(check) and len(by_check[check]) >= by_check[check][0].nodes for check in checks)

    def _by_check(self) -> dict[str, list[Result]]:
        found: dict[str, list[Result]] = {}
        for node in sorted(self._collected.results):
            found.setdefault(check_id(node), []).append(self._collected.results[node])
        return found

    def _partial(self, claims: list[dict[str, Any]]) -> bool:
        """Say whether checks of the registry were left out, also of a claim that is in error for another reason."""
        left_out = not self._all_ran(list(self._session.checks), self._by_check())
        return left_out or any(row["verdict"] == "not run" for row in claims)

    def unmeasured(self, claims: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """Return the page's figures that a claim's checks, all of which ran, have not measured."""
        decided = {row["claim"] for row in claims if row["verdict"] in ("holds", "refuted")}
        measured = {
            (self._session.checks[check_id(result.node)].claim, row["figure"])
            for result in self._collected.results.values()
            for row in result.measurements
        }
        return [
            (claim, name)
            for claim, figures in self._session.registry.figures.items()
            for name in figures
            if claim in decided and (claim, name) not in measured
        ]

    def unseen_settings(self, claims: list[dict[str, Any]]) -> list[tuple[str, str]]:
        """Return the settings that the pages state, run and setting, and that no check has seen, though all ran."""
        if self._partial(claims):
            return []
        rows = self._setting_rows()
        return [(row["run"], row["setting"]) for row in rows if row["agreement"] == SettingAgreement.NOT_MEASURED]

    def _setting_rows(self) -> list[dict[str, str]]:
        seen = [row for result in self._collected.results.values() for row in result.settings]
        rows = {(row["run"], row["setting"]): row for row in [*self._collected.stated, *seen]}
        return list(rows.values())

    def _source(self, node: str) -> str:
        """Return where the check of a node stands, as a link into the repository goes on."""
        check = self._session.checks[check_id(node)]
        return f"{check.id.split('::')[0]}#L{check.line}"

    def _measurement_rows(self) -> list[dict[str, Any]]:
        registry = self._session.registry
        rows: dict[tuple[str, str], dict[str, Any]] = {}
        for node in sorted(self._collected.results):
            result = self._collected.results[node]
            claim = self._session.checks[check_id(node)].claim
            for row in result.measurements:
                key = (claim, row["figure"])
                if key in rows:
                    self._collected.problems.append(
                        f"{claim}: figure {row['figure']!r} was measured twice; the first is kept"
                    )
                    continue
                rows[key] = {"claim": claim, **row, "check": node, "seconds": result.seconds}
        for claim, figures in registry.figures.items():
            for figure in figures.values():
                rows.setdefault(
                    (claim, figure.name),
                    {
                        "claim": claim,
                        "figure": figure.name,
                        "kind": figure.kind,
                        "printed": figure.printed,
                        "agreement": "not measured",
                    },
                )
        order = {claim: place for place, claim in enumerate(registry.claims)}
        within = {(claim, name): i for claim, names in registry.figures.items() for i, name in enumerate(names)}
        return sorted(
            rows.values(), key=lambda row: (order[row["claim"]], within.get((row["claim"], row["figure"]), 10**6))
        )

    def run(self, claims: list[dict[str, Any]], *, complete: bool, exit_status: int) -> Run:
        """Return the run.

        Args:
            claims: as `claim_rows` returns them.
            complete: whether every check that was to run came back.
            exit_status: pytest's.
        """
        registry = self._session.registry
        measurements = self._measurement_rows()
        order = {check: place for place, check in enumerate(self._session.checks)}
        in_page_order = sorted(self._collected.results, key=lambda node: (order[check_id(node)], node))
        nodes = [
            (node, self._session.checks[check_id(node)].claim, self._collected.results[node]) for node in in_page_order
        ]
        verdicts = {row["claim"]: row["verdict"] for row in claims}
        sentences = {claim: _found(claim, verdict, nodes) for claim, verdict in verdicts.items()}
        remarks = errata(registry, verdicts, measurements, sentences)
        for row in remarks:
            page = registry.claims[row["claim"]]
            decided = {verdicts[page.id], verdicts.get(page.id + CORRECTED, "holds")} <= {"holds", "refuted"}
            if page.suggest and not row["suggestion"] and "figure" not in row and decided:
                self._collected.problems.append(
                    f"{page.id}: the suggested sentence names a number that is not measured"
                )
        commit, dirty = _commit(self._config.rootpath)
        info = {
            "complete": complete,
            "started": self._collected.started.isoformat(timespec="seconds"),
            "seconds": time.perf_counter() - self._collected.clock,
            "selected": _selected(self._config),
            "partial": self._partial(claims),
            "seeds": self._session.looks.first,
            "options": {
                name: self._config.getoption(name) for name in ("seeds", "first_seed", "device", "claim", "keyword")
            },
            "exit_status": exit_status,
            "counts": {name.value: sum(row["verdict"] == name for row in claims) for name in ClaimVerdict},
            "problems": self._collected.problems,
            "repository": _repository(),
            "commit": commit,
            "dirty": dirty,
            "environment": {
                **(self._collected.environment or environment_of(self._config)),
                "workers": _workers(self._config),
            },
            "lessons": {
                name: {"title": lesson.title, "parts": [asdict(part) for part in lesson.parts]}
                for name, lesson in registry.lessons.items()
            },
            "see": {claim.id: list(claim.see) for claim in registry.claims.values() if claim.see},
            "controls": self._controls,
            "undecided": [asdict(each) for each in registry.undecided],
            "checklist": [{"advice": piece.advice, "claims": list(piece.claims)} for piece in registry.checklist],
            "source": {node: self._source(node) for node in self._collected.results},
        }
        return Run.from_rows(
            info=info,
            claims=claims,
            measurements=[{k: v for k, v in row.items() if k != "sample"} for row in measurements],
            samples=[
                {"claim": row["claim"], "figure": row["figure"], "seed": seed, "value": value}
                for row in measurements
                for seed, value in row.get("sample", [])
                if not isinstance(value, str)
            ],
            decisions=[
                {"claim": claim, "check": node, **row} for node, claim, result in nodes for row in result.decisions
            ],
            curves=[{"claim": claim, **row} for _, claim, result in nodes for row in result.curves],
            errata=remarks,
            settings=self._setting_rows(),
        )


def _verdict(results: list[Result], *, partial: bool, lost: bool) -> str:
    verdicts = {result.verdict for result in results}
    if lost or "error" in verdicts:
        return "error" if "error" in verdicts or results else "not run"
    if partial or "not run" in verdicts:
        return "not run"
    return next(verdict for verdict in WORST_FIRST if verdict in verdicts)


def _facts(decisions: list[dict[str, Any]]) -> str:
    """Return the verdict of what no seed decides, such as printed figures and properties; empty without any of that."""
    of_no_seed = (row for row in decisions if not row["seeds"] and row["rule"] not in (NOT_MEASURED, TOO_FEW_SEEDS))
    found = {row["verdict"] for row in of_no_seed}
    return next((verdict for verdict in WORST_FIRST if verdict in found), "")


def _evidence(results: list[Result], verdict: str) -> str:
    """Return what is behind a claim's verdict: the sentences of its decisions, or what went wrong."""
    if verdict == "error":
        return " ".join(f"{result.node}: {result.reason}." for result in results if result.verdict == "error")
    decisions = [decision for result in results for decision in result.decisions]
    return " ".join(row["sentence"] for row in sorted(decisions, key=lambda row: row["verdict"] != verdict))


def _found(claim: str, verdict: str, nodes: list[tuple[str, str, Result]]) -> str:
    """Return what the decisions say that made a claim's verdict, as its erratum or addition tells it.

    Where a claim has checks for its addition, theirs are taken alone; so is what says nothing of the claim left out.
    """
    own = [(node, result) for node, of, result in nodes if of == claim]
    added = [(node, result) for node, result in own if check_id(node).endswith(ADDITION)]
    decisions = [
        decision
        for _, result in (added or own)
        for decision in result.decisions
        if decision["verdict"] == verdict and decision["rule"] not in (TYPICAL, NOT_MEASURED)
    ]
    telling = [each for each in decisions if each["rule"] != PRINTED or verdict != "holds"]
    return " ".join(dict.fromkeys(each["sentence"] for each in telling or decisions))


def _changed(verdict: str, claim: Claim, results: list[Result]) -> bool:
    """Say whether a claim came out otherwise than is on record for it."""
    if any(result.contradicted for result in results):
        return True
    decided = verdict in DECIDED and claim.expect in (*DECIDED, Expectation.DEPENDS)
    return decided and verdict != claim.expect


def _selected(config: pytest.Config) -> str:
    options = [f"--claim {pattern}" for pattern in config.getoption("claim")]
    options += [f"-k {config.option.keyword}"] if config.option.keyword else []
    options += [f"-m {config.option.markexpr}"] if config.option.markexpr else []
    places = [str(argument) for argument in config.args if argument != "claims"]
    return " ".join([*options, *places])


def _workers(config: pytest.Config) -> int:
    return len(getattr(config.option, "tx", None) or []) or 1


def _repository() -> str:
    """Return the address of the repository where a hosted job runs, so that the report can link to the source."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else ""


def _commit(root: Path) -> tuple[str | None, bool]:
    """Return the checked-out commit and whether files differ from it; None outside a repository."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607  git of the path
        status = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)  # noqa: S607  git of the path
    except (OSError, subprocess.CalledProcessError):
        return None, False
    return commit.stdout.strip(), bool(status.stdout.strip())
