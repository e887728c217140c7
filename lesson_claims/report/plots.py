"""Curves and bars of a claim as SVG that the page can theme, read aloud and search.

matplotlib draws. Its SVG is then rewritten for the page: no style attributes (the page's security policy forbids
them), colours as classes that the style sheet fills in, text as text, ids that are unique on the page, no dates.
"""

import io
import math
import re
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from lesson_claims.results.numbers import parse, show
from lesson_claims.results.vocabulary import Mark, Scale

ROW, LEGEND_SAMPLE = 56, 8
"""Letters that there is room for in a row of the plot, and letters that a sample of a line in its legend takes."""
LARGEST = 1e300
"""Beyond this, matplotlib's own arithmetic overflows."""
LONGEST_LABEL = 60
FRAME = (0.15, 0.2, 0.83, 0.67)
"""Left, bottom, width and height of the axes; measuring the labels to find better ones takes as long as drawing."""
COLOURS = {"#000001": "ink", "#000002": "grid"} | {f"#00001{n}": f"series-{n}" for n in range(1, 7)}
INK, GRID, *SERIES = COLOURS
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P")
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lesson-claims",
    "text.parse_math": False,
    "font.size": 8.5,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
}


@dataclass(frozen=True)
class Plot:
    """One plot: its title, its SVG, and in words what it shows and what it cannot show."""

    title: str
    svg: str
    description: str
    lost: str


def plot(title: str, points: Sequence[Mapping[str, Any]], slug: str) -> Plot:
    """Draw the rows of `curves.csv` that make up one picture; `slug` makes its ids unique on the page."""
    first = points[0]
    series: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for point in points:
        series.setdefault((point["mark"], point["series"]), []).append(point)
    drawn = [point for point in points if point["mark"] != Mark.LIMIT]
    places = [parse(point["x"]) for point in drawn]
    as_text = any(point["mark"] == Mark.BAR for point in drawn) or any(place is None for place in places)
    categories = list(dict.fromkeys(point["x"] for point in drawn)) if as_text else []
    lost = [
        *_lost(drawn, "y", [point["y"] for point in drawn], first["y_scale"]),
        *_lost(drawn, "x", [] if as_text else [place for place in places if place is not None], first["x_scale"]),
    ]
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what cannot be drawn is said in words above
        mpl.rcdefaults()
        mpl.rcParams.update(SETTINGS)  # type: ignore[arg-type] # its stubs know only literal names
        figure = Figure(figsize=(4.4, 2.7))
        axes = figure.add_axes(FRAME)
        figure.patch.set_visible(False)  # the page's own background shows through
        axes.patch.set_visible(False)
        x_scale = Scale.LINEAR if as_text else first["x_scale"] or Scale.LINEAR
        axes.set(xscale=x_scale, yscale=first["y_scale"] or Scale.LINEAR)
        bars = [name for mark, name in series if mark == Mark.BAR]
        lines = [name for mark, name in series if mark == Mark.LINE]
        for (mark, name), rows in series.items():
            label = _label(name)
            ys = [_drawable(row["y"]) for row in rows]
            if mark == Mark.LIMIT:
                axes.axhline(ys[0], color=INK, linestyle=(0, (4, 3)), linewidth=1)
                axes.annotate(
                    label, (1, ys[0]), xycoords=("axes fraction", "data"), xytext=(0, 3),
                    textcoords="offset points", ha="right", va="bottom",
                )  # fmt: skip
                continue
            xs = [categories.index(row["x"]) if as_text else _drawable(parse(row["x"])) for row in rows]
            if mark == Mark.BAR:
                number, width = bars.index(name), 0.8 / len(bars)
                at = [x - 0.4 + width * (number + 0.5) for x in xs]
                axes.bar(at, ys, width * 0.92, color=SERIES[number % len(SERIES)], alpha=0.7, label=label)
                _whiskers(axes, at, rows)
            else:
                number = lines.index(name)
                colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
                axes.plot(
                    xs, ys, color=colour, linestyle=LINES[number % len(LINES)], label=label,
                    marker=marker if len(rows) <= 30 else None,
                )  # fmt: skip
                if any(row["low"] is not None for row in rows):
                    band = [[_drawable(row[end]) for row in rows] for end in ("low", "high")]
                    axes.fill_between(xs, band[0], band[1], color=colour, alpha=0.15, linewidth=0)
        if as_text:
            width = max(4, ROW // len(categories))
            axes.set_xticks(range(len(categories)), [_wrapped(text, width) for text in categories])
            axes.grid(visible=False, axis="x")
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == Scale.LOG:
                low, high = axis.get_view_interval()
                axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
                axis.set_major_formatter(_power)
                axis.set_minor_locator(NullLocator())  # each minor tick costs as much as a line
        axes.set_xlabel(_label(first["x_label"]))
        axes.set_ylabel(_label(first["y_label"]))
        named = [_label(name) for name in (*lines, *bars)]
        if len(named) > 1:
            columns = max(1, ROW // (max(map(len, named)) + LEGEND_SAMPLE))
            rows_above = -(-len(named) // columns) - 1
            axes.set_position((*FRAME[:3], max(FRAME[3] - 0.075 * rows_above, 0.2)))
            figure.legend(loc="upper left", bbox_to_anchor=(FRAME[0] - 0.02, 1), ncols=columns)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    description = "; ".join(_describe(mark, name, rows) for (mark, name), rows in series.items()) + "."
    return Plot(title, _for_page(file.getvalue(), slug, title, description), description, "; ".join(lost))


def _power(value: float, _: object) -> str:
    """Write a tick of a logarithmic axis."""
    if 0.01 <= value <= 1000:
        return f"{value:g}"
    mantissa, exponent = f"{value:e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if float(mantissa) == 1 else f"{float(mantissa):g}·{power}"


def _drawable(value: float | None) -> float:
    return math.nan if value is None or not abs(value) <= LARGEST else value


def _lost(points: Sequence[Any], axis: str, values: Sequence[float], scale: str) -> list[str]:
    said = []
    if number := sum(math.isnan(_drawable(value)) for value in values):
        said.append(f"{number} of {len(points)} points have no finite {axis} and are not drawn")
    if scale == Scale.LOG and (number := sum(value <= 0 for value in values)):
        said.append(f"{number} of {len(points)} points are zero or less and have no place on a logarithmic {axis} axis")
    return said


def _whiskers(axes: Any, at: Sequence[float], rows: Sequence[Mapping[str, Any]]) -> None:
    for x, row in zip(at, rows, strict=True):
        axes.plot([x, x], [_drawable(row["low"]), _drawable(row["high"])], color=INK, linewidth=1)


def _label(text: str, longest: int = LONGEST_LABEL) -> str:
    text = re.sub(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]+", " ", text)  # XML has no place for these
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _wrapped(text: str, width: int) -> str:
    """Write a label in at most two lines of about `width` letters."""
    lines = [_label(line, width + 4) for line in textwrap.wrap(_label(text), width, break_long_words=False)]
    return "\n".join(lines[:2]) + ("…" if len(lines) > 2 else "")


def _describe(mark: str, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    name = _label(name) or "values"
    if mark == Mark.LIMIT:
        return f"limit line {name} at {show(rows[0]['y'])}"
    if mark == Mark.BAR and len(rows) <= 12:
        return f"{name}: " + ", ".join(f"{_label(row['x'])} {show(row['y'])}" for row in rows)
    first, last = rows[0], rows[-1]
    return (
        f"{name}: {len(rows)} points, {show(first['y'])} at {_label(first['x'])}"
        f" to {show(last['y'])} at {_label(last['x'])}"
    )


def _for_page(svg: str, slug: str, title: str, description: str) -> str:
    root = ElementTree.fromstring(svg)  # noqa: S314 - written by matplotlib a moment ago
    used = {
        name: f"{slug}:{number}"
        for number, name in enumerate(dict.fromkeys(re.findall(r'(?:url\(|href=")#([\w-]+)', svg)), start=1)
    }
    _prune(root)
    for element in root.iter():
        element.tag = element.tag.partition("}")[2]
        element.tail = None
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        for rule in attributes.pop("style", "").split(";"):
            key, _, value = rule.partition(":")
            if key.strip() and not key.strip().startswith("font"):
                attributes[key.strip()] = value.strip()
        classes = []
        for key in ("fill", "stroke"):
            if (colour := COLOURS.get(attributes.get(key, "").lower())) is not None:
                del attributes[key]
                classes.append(f"{key}-{colour}")
        if "id" in attributes:
            name = attributes.pop("id")
            if name in used:
                attributes["id"] = used[name]
        element.attrib.clear()
        for key, value in attributes.items():
            value = re.sub(r"(^|url\()#([\w-]+)", lambda match: f"{match[1]}#{used.get(match[2])}", value)
            element.set(key, re.sub(r"(\.\d\d)\d+", r"\1", value))
        if classes:
            element.set("class", " ".join(classes))
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib.update(
        {"viewBox": box, "class": "plot", "role": "img", "aria-labelledby": f"{slug}:title {slug}:description"}
    )
    for number, (tag, text) in enumerate((("title", _label(title)), ("desc", description))):
        child = ElementTree.Element(tag, {"id": f"{slug}:{'title' if tag == 'title' else 'description'}"})
        child.text = text
        root.insert(number, child)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=False)


def _prune(parent: ElementTree.Element) -> None:
    """Remove what only a stand-alone file needs, and groups with nothing in them."""
    for child in list(parent):
        _prune(child)
        name = child.tag.rpartition("}")[2]
        if name in ("metadata", "style") or (name in ("g", "defs") and not len(child)):
            parent.remove(child)
