"""Figure files: what is read, and that every bad row is refused in one line that names file and line."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lesson_claims.figures import Figure, FigureFileError, load_figures

HEADER = "claim,figure,printed,kind,decimals,tolerance,where"


def load(tmp_path: Path, *rows: str, header: str = HEADER) -> list[Figure]:
    path = tmp_path / "course_figures.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return load_figures(path)


def row(printed: str, kind: str, decimals: str = "", tolerance: str = "") -> str:
    return f'course.a,x,"{printed}",{kind},{decimals},{tolerance},page'


@pytest.mark.parametrize(
    "header",
    [
        "claim,figure,printed,kind,where",
        "claim,figure,printed,kind,decimals,where",
        "where,kind,printed,figure,claim",
        "\ufeffclaim,figure,printed,kind,where",
    ],
)
def test_decimals_and_tolerance_may_be_absent_and_the_order_is_free(tmp_path: Path, header: str) -> None:
    fields = {"claim": "course.a", "figure": "x", "printed": ".33", "kind": "float", "where": "page"}
    (figure,) = load(
        tmp_path, ",".join(fields.get(name.lstrip("\ufeff"), "") for name in header.split(",")), header=header
    )
    assert (figure.claim, figure.name, figure.value) == ("course.a", "x", Decimal("0.33"))
    assert figure.number is not None
    assert figure.number.unit == Decimal("0.01")


@pytest.mark.parametrize(
    "header",
    ["", "claim,figure,printed,kind", HEADER + ",colour", HEADER + ",where", "claim;figure;printed;kind;where"],
)
def test_another_header_is_refused(tmp_path: Path, header: str) -> None:
    with pytest.raises(FigureFileError, match=r"course_figures\.csv:1: the header must be claim,figure"):
        load(tmp_path, header=header)


@pytest.mark.parametrize(
    ("printed", "kind", "decimals"),
    [
        ("0.4960", "float", "4"),
        ("0.4960", "float", ""),
        ("0.32768", "float", "8 significant"),
        ("1.438e-02", "float", "4 significant"),
        ("8429", "float", "0"),
        ("87.5%", "float", "1"),
        ("1,608", "exact", ""),
        ("True", "exact", ""),
        ("(2, 6, 3)", "exact", ""),
        ("95626647", "exact", ""),
        ("4000 (roughly)", "stated", ""),
        ("8", "clock", ""),
        ("≈ 0.59", "float", "2"),
        ("abcab", "trained", ""),
        ("3.4 ± 0.2", "trained", ""),
    ],
)
def test_these_are_figures(tmp_path: Path, printed: str, kind: str, decimals: str) -> None:
    (figure,) = load(tmp_path, row(printed, kind, decimals))
    assert (figure.printed, figure.kind) == (printed, kind)


@pytest.mark.parametrize(
    ("printed", "kind", "tolerance", "expected"),
    [
        ("0.9245", "trained", "", "0.02"),
        ("92%", "trained", "", "0.02"),
        ("0.9245", "trained", "0.1", "0.1"),
        ("92%", "trained", "5%", "0.05"),
        ("4.29", "trained", ".09", "0.09"),
        ("3.4 ± 0.2", "trained", "", "0.2"),
        ("0.9 ± 0.1", "trained", "", "0.1"),
        ("3.4 ± 0.2", "trained", "0.3", "0.3"),
        ("12345123451234512345", "trained", "0", "0"),
        ("abcab", "trained", "", "0"),
        ("0.9245", "float", "", None),
    ],
)
def test_a_trained_figure_has_a_tolerance(
    tmp_path: Path, printed: str, kind: str, tolerance: str, expected: str | None
) -> None:
    (figure,) = load(tmp_path, row(printed, kind, tolerance=tolerance))
    assert figure.tolerance == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (row("1", "exat"), "kind 'exat' is none of exact, float, trained, stated, clock"),
        (row("1", "behaviour"), "kind 'behaviour' is none of"),
        (row(" ", "exact"), "the field 'printed' is empty"),
        (row("a\x00b", "exact"), r"the field 'printed' has the control character '\\x00'; remove it"),
        (row("0.5933", "float", "3"), "has 4 decimals, and the column says '3'"),
        (row("0.32768", "float", "4 significant"), "has 5 significant decimals, and the column says '4 significant'"),
        (row("0.5933", "float", "four"), "is neither a count"),
        (row("0.5933", "float", "²"), "is neither a count"),
        (row("0.5933", "float", "9" * 6000), "is neither a count"),
        (row("True", "exact", "4"), "has decimals but is not a number"),
        (row("many", "float"), "is not understood as a number; write it alone"),
        (row("8 s", "clock"), "is not understood as a number; write it alone"),
        (row("about as many", "stated"), "is not understood as a number; write it alone"),
        (row("12,34", "exact"), "is not understood as a number; write it alone"),
        (row("0,944", "trained"), "is not understood as a number; write it alone"),
        (row("½", "exact"), "is not understood as a number; write it alone"),
        (row("abc1", "trained"), "if it is a text, which has to be equal, write 0 as its tolerance"),
        (row("1e999999", "exact"), "is beyond 1e400 or below 1e-400; no measured number could equal it"),
        (row("1e999999", "float"), "is beyond 1e400"),
        (row("about 40", "exact"), "does not claim its last digit"),
        (row("~4000", "float"), "does not claim its last digit"),
        (row("3.4 ± 0.2", "exact"), "does not claim its last digit"),
        (row("4.29", "trained"), "is trained and no share"),
        (row("-0.3", "trained"), "is trained and no share"),
        (row("12345", "trained"), "is trained and no share"),
        (row("4.29", "trained", tolerance="-1"), "tolerance '-1' is no number of 0 or more"),
        (row("4.29", "trained", tolerance="some"), "tolerance 'some' is no number of 0 or more"),
        (row("4.29", "trained", tolerance="1e999"), "tolerance '1e999' is no number of 0 or more"),
        (row("4.29", "trained", tolerance="~1"), "tolerance '~1' is no number of 0 or more"),
        (row("4.29", "exact", tolerance="1"), "tolerance '1' of a figure of kind exact; only a trained one has it"),
        (row("1,2", "exact").replace('"', ""), "8 fields where 7 are needed"),
    ],
)
def test_a_bad_row_is_refused_with_file_and_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(FigureFileError, match=said) as refused:
        load(tmp_path, row("1", "exact").replace("x", "first", 1), line)
    assert str(refused.value).startswith(f"{tmp_path / 'course_figures.csv'}:3: ")
    assert "\n" not in str(refused.value)


def test_a_repeated_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FigureFileError, match=r":3: figure 'x' of course\.a stands on line 2 already"):
        load(tmp_path, row("1", "exact"), row("2", "exact"))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b'claim,"figure', b""])
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "course_figures.csv"
    path.write_bytes(content)
    with pytest.raises(FigureFileError, match="course_figures") as refused:
        load_figures(path)
    assert "\n" not in str(refused.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=12), st.sampled_from(["exact", "float", "trained", "stated", "clock"]), st.text(max_size=3))
def test_no_row_is_a_crash(tmp_path: Path, printed: str, kind: str, tolerance: str) -> None:
    quoted = printed.replace('"', '""').encode("utf-8", "replace").decode()
    line = f'course.a,x,"{quoted}",{kind},,"{tolerance}",page'.encode("utf-8", "replace")
    path = tmp_path / "course_figures.csv"
    path.write_bytes(HEADER.encode() + b"\n" + line + b"\n")
    with contextlib.suppress(FigureFileError):
        load_figures(path)
