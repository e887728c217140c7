"""index.html: one page that needs nothing else, neither files nor network.

The page's own script and style are the only ones that its security policy lets a browser run.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lesson_claims.report import words
from lesson_claims.report.page import COLUMNS, Claim, Page, arrange, bullet, slug, told
from lesson_claims.report.sparklines import Night, sparkline
from lesson_claims.report.strip_plot import strip_plot
from lesson_claims.report.words import place
from lesson_claims.results.drift_tables import DriftTables, day
from lesson_claims.results.numbers import duration, show
from lesson_claims.results.tables import Run

HERE = Path(__file__).parent
SLOWEST = 5
SAMPLE_TREND = [
    Night(str(night), f"2026-01-{night + 1:02d}T00:00:00", value, 0.93, 0.96,
          "torch 2.13.0 → 2.14.0" if night == 3 else "", "", night == 7)
    for night, value in enumerate([0.944, 0.95, 0.939, 0.947, 0.941, 0.949, 0.943, 0.915, 0.92, 0.917])
]  # fmt: skip
UNSEEN = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
UNSEEN |= dict.fromkeys([*range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], 0xFFFD)
UNSEEN_PATTERN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def html(run: Run, drift: DriftTables | None = None) -> str:
    """Return the text of index.html; with `drift`, each figure's history is drawn beside it."""
    page = arrange(run, drift)
    style, script = (HERE / "static" / name for name in ("style.css", "script.js"))
    styles, scripts = style.read_text(encoding="utf-8"), script.read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("index.html")
        .render(
            page=page,
            style=Markup(styles),  # noqa: S704 - our own files
            script=Markup(scripts),  # noqa: S704
            policy=_policy(styles, scripts),
            facts=_facts(page.info),
            all_facts=_all_facts(page.info),
            facets=_facets(page),
            columns="\t".join(COLUMNS),
            slowest=slowest(page),
            sample_strip_plot=strip_plot(
                [(0, 0.9), (1, 0.93), (2, 0.95), (3, 0.96), (4, 0.955)], "0.9440", 0.88, 0.98, (0.86, 1.0)
            ),
            sample_trend=sparkline(SAMPLE_TREND, {str(night): night for night in range(len(SAMPLE_TREND))}),
        )
    )


def slowest(page: Page) -> list[Claim]:
    """Return the claims that took longest, the slowest first."""
    timed = [claim for claim in page.claims if claim.seconds]
    return sorted(timed, key=lambda claim: -(claim.seconds or 0.0))[:SLOWEST]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters |= {
        "css": lambda word: word.replace(" ", "-"),
        "slug": slug,
        "duration": duration,
        "bullet": bullet,
        "plain": show,
        "when": _when,
        "day": day,
    }
    environment.globals |= {
        "words": words.COUNTED,
        "signs": words.SIGNS,
        "agreement_words": words.AGREEMENTS_COUNTED,
        "place": place,
        "told": told,
        "verdict_meanings": words.VERDICTS,
        "agreement_meanings": words.AGREEMENTS,
    }
    return environment


def _visible(value: Any) -> Any:
    """Make control characters visible: HTML has no place for them, and a label may contain them."""
    return value.translate(UNSEEN) if isinstance(value, str) and UNSEEN_PATTERN.search(value) else value


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")

    return (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _when(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M}{' UTC' if moment.tzinfo else ''}"


def _facts(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = {key: str(value) for key, value in info["environment"].items() if value not in (None, "")}
    machine = found.get("processor") or found.get("platform", "")
    device = " ".join(name for name in (found.get("device"), found.get("device name")) if name and name != machine)
    work = ", ".join(f"{name} {found[name]}" for name in ("workers", "threads") if name in found)
    versions = " · ".join(f"{name} {found[name]}" for name in ("python", "torch", "numpy") if name in found)
    commit = str(info["commit"] or "")[:10] + (" with uncommitted changes" if info["dirty"] else "")
    facts = [
        ("Machine", machine),
        ("Device", device + (f" ({work})" if work else "")),
        ("Versions", versions),
        ("Numerics", found.get("numerics", "")),
        ("Commit", commit),
    ]
    return [(name, value) for name, value in facts if value]


def _all_facts(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    plain = ("started", "seconds", "complete", "exit_status", "selected", "seeds", "commit", "dirty", "schema")
    facts = [(name.replace("_", " "), info[name]) for name in plain]
    facts += [*info["environment"].items()]
    facts += [(f"option {name}", value) for name, value in info["options"].items()]
    return [(str(name), str(value)) for name, value in facts if value not in (None, "")]


def _facets(page: Page) -> list[tuple[str, str, list[tuple[str, str]]]]:
    titles = {lesson.name: lesson.title for lesson in page.lessons}
    listed = page.listed
    values = {
        "lesson": [(claim.lesson, titles.get(claim.lesson, claim.lesson)) for claim, _ in listed],
        "part": [(claim.heading, claim.heading) for claim, _ in listed if claim.heading],
        "kind": [(figure.kind, figure.kind) for _, figure in listed if figure.kind],
        "verdict": [(claim.verdict, claim.verdict) for claim, _ in listed],
        "agreement": [(figure.agreement, figure.agreement) for _, figure in listed],
    }
    return [(name, name.capitalize(), list(dict.fromkeys(pairs))) for name, pairs in values.items()]
