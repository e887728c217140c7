"""Strip plots and plots: what is marked stands where it belongs, what cannot be drawn is said."""

import math
from xml.etree import ElementTree

import pytest
import reports_fixtures
from hypothesis import example, given
from hypothesis import strategies as st

from lesson_claims.report.plots import plot
from lesson_claims.report.strip_plot import MARGIN, STACK, WIDTH, domain, strip_plot


def drawn(samples, printed="", low=None, high=None):
    return strip_plot(samples, printed, low, high, domain([value for _, value in samples], printed, low, high))


def test_positions_follow_the_values():
    picture = drawn([(0, 0.0), (1, 0.5), (2, 1.0)], "0.25", 0.0, 0.75)
    assert [dot.x for dot in picture.dots] == [MARGIN, WIDTH / 2, WIDTH - MARGIN]
    assert picture.printed == pytest.approx(MARGIN + (WIDTH - 2 * MARGIN) / 4, abs=0.1)
    assert picture.low == MARGIN
    assert picture.high == pytest.approx(MARGIN + (WIDTH - 2 * MARGIN) * 0.75, abs=0.1)
    assert picture.description == "3 seeds from 0.0 to 1.0; printed 0.25; interval 0.00 to 0.75."


def test_equal_values_are_stacked_and_stand_in_the_middle():
    picture = drawn([(seed, 0.5) for seed in range(3)])
    assert [(dot.x, dot.level) for dot in picture.dots] == [(WIDTH / 2, level) for level in range(STACK)]


def test_lost_values_are_named():
    picture = drawn([(0, math.nan), (1, 0.5), (2, math.inf)])
    assert len(picture.dots) == 1
    assert picture.lost == "seed 0 is NaN, seed 2 is inf"
    assert "seed 0 is NaN" in picture.description


def test_nothing_to_draw():
    picture = drawn([(0, math.nan)], "0.5", 0.1, 0.9)
    assert (picture.dots, picture.printed, picture.low, picture.high) == ((), None, None, None)


@given(
    st.lists(st.tuples(st.integers(), st.floats()), min_size=1),
    st.sampled_from(["", "0.5", "nan", "word"]),
    st.none() | st.floats(),
    st.none() | st.floats(),
)
@example([(0, 1.7e308), (1, -1e292)], "", None, None)
@example([(0, 1.7e308), (1, -1.7e308)], "0.5", -math.inf, math.inf)
@example([(0, 5e-324), (1, 0.0)], "", None, None)
def test_everything_stays_on_the_strip_plot(samples, printed, low, high):
    picture = drawn(samples, printed, low, high)
    places = [dot.x for dot in picture.dots] + [picture.printed, picture.low, picture.high]
    assert all(MARGIN <= place <= WIDTH - MARGIN for place in places if place is not None)
    assert len(picture.dots) == sum(math.isfinite(value) for _, value in samples)


def read(svg):
    return ElementTree.fromstring(svg)  # noqa: S314 - our own


def points(mark="line", scale="linear", ys=(1.0, 2.0), **more):
    return [
        {"mark": mark, "series": "s", "x": str(x), "y": y, "low": None, "high": None, "x_label": "x", "y_label": "y",
         "x_scale": "linear", "y_scale": scale, **more}
        for x, y in enumerate(ys)
    ]  # fmt: skip


def test_a_plot_is_the_same_every_time():
    assert plot("t", points(), "p") == plot("t", points(), "p")


def test_a_plot_has_title_description_text_and_no_style():
    root = read(plot("A title", points(y_label="<loss>"), "p").svg)
    assert root.attrib["role"] == "img"
    assert root[0].text == "A title"
    assert root[1].text == "s: 2 points, 1.0 at 0 to 2.0 at 1."
    assert "<loss>" in [element.text for element in root.iter("text")]
    assert not [element for element in root.iter() if "style" in element.attrib]
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert all(name.startswith("p:") for name in ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("mark", ["line", "bar", "limit"])
@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("ys", [(1.0,), (0.0, -1.0), (math.nan, math.inf), (1e-27, 1e30), (5e-324, 1.7e308)])
def test_any_values_can_be_plotted(mark, scale, ys):
    read(plot("t", points(mark, scale, ys), "p").svg)


def test_what_a_plot_cannot_show_is_said():
    lost = plot("t", points("line", "log", (1.0, 0.0, math.nan)), "p").lost
    assert lost == (
        "1 of 3 points have no finite y and are not drawn;"
        " 1 of 3 points are zero or less and have no place on a logarithmic y axis"
    )


@pytest.mark.parametrize("label", reports_fixtures.NASTY)
def test_any_label_can_be_plotted(label):
    read(plot(label, points(x_label=label, y_label=label, series=label), "p").svg)
