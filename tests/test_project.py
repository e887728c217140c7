"""A project's settings, and the registry of whatever lessons it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from lesson_claims.project import ProjectError, read_project
from lesson_claims.registry import RegistryError, Undecided, load_registry

LESSON = '[lesson]\nid = "{id}"\ntitle = "A lesson"\n'
CLAIM = '[[claim]]\nid = "{id}"\nwhere = "the text"\nsays = "{says}"\nkind = "exact"\nexpect = "holds"\n'


def write(root: Path, **files: str) -> Path:
    (root / "claims").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "claims" / f"{name}.toml").write_text(text, encoding="utf-8")
    return root


def one(lesson: str, *names: str, says: str = "It is so.") -> str:
    return LESSON.format(id=lesson) + "".join(CLAIM.format(id=f"{lesson}.{name}", says=says) for name in names)


def part(lesson: str, number: int) -> str:
    table = f'[part]\nlesson = "{lesson}"\nid = "day{number}"\nname = "Day {number}"\ntitle = "a day"\n'
    return table + CLAIM.format(id=f"{lesson}.day{number}.x", says="It is so.")


def depends() -> str:
    return one("a", "x").replace('"holds"', '"depends"')


def refuted(more: str = "") -> str:
    return one("a", "x").replace('"holds"', f'"refuted"\nreason = "Seen."\n{more}')


ADDITION = '[claim.addition]\ntruth = "T."\nsuggest = "Say T."\n'
CORRECTED = 'says = "{}"\nkind = "exact"\nsuggest = "S."\n'
UNDECIDED = '[[undecided]]\nwhere = "the end"\nsays = "Many do."\nreason = "Nobody measured it."\n'


def test_without_settings_the_defaults_hold(tmp_path: Path) -> None:
    project = read_project(tmp_path)
    assert project.claims == (tmp_path / "claims",)
    assert project.code == (tmp_path / "lessons",)


def test_settings_name_folders_and_the_order_of_lessons(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.lesson-claims]\nclaims = ["said"]\ncode = ["src/code"]\nlessons = ["b"]\n', encoding="utf-8"
    )
    project = read_project(tmp_path)
    assert (project.claims, project.packages, project.lessons) == ((tmp_path / "said",), {"code"}, ("b",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool", "cannot be read"),
        ("[tool.lesson-claims]\nfolders = []\n", "unknown field `folders`.*claims, code, lessons"),
        ('[tool.lesson-claims]\nclaims = "claims"\n', "claims"),
        ("[tool]\nlesson-claims = 3\n", "object"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ProjectError, match=f"pyproject.toml.*{said}"):
        read_project(tmp_path)


def test_lessons_come_in_the_order_of_the_settings_and_parts_in_that_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, a=one("a", "x"), b=LESSON.format(id="b"), b_day10=part("b", 10), b_day9=part("b", 9))
    registry = load_registry(read_project(tmp_path))
    assert list(registry.claims) == ["a.x", "b.day9.x", "b.day10.x"]
    (tmp_path / "pyproject.toml").write_text('[tool.lesson-claims]\nlessons = ["b"]\n', encoding="utf-8")
    registry = load_registry(read_project(tmp_path))
    assert list(registry.claims) == ["b.day9.x", "b.day10.x", "a.x"]
    assert [name.name for name in registry.lessons["b"].parts] == ["Day 9", "Day 10"]
    assert registry.figures == {}, "a lesson without printed figures needs no file of them"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no lesson found.*has no .toml file"),
        ({"a": CLAIM}, "needs a table"),
        ({"a": LESSON.format(id="a") + "[part]\n"}, "needs a table"),
        ({"a": one("a", "x"), "b": one("a", "y")}, "b.toml: lesson 'a' stands in .*a.toml already"),
        ({"a": part("a", 1)}, "no file has .lesson."),
        ({"a": LESSON.format(id="a"), "b": part("a", 1), "c": part("a", 1)}, "part 'day1' of a stands in"),
        ({"a": one("a", "x", "x")}, "claim a.x stands in .*a.toml already"),
        ({"a": LESSON.format(id="a") + CLAIM.format(id="b.x", says="Y.")}, "must start with 'a.'"),
        ({"a": one("a", "x Y")}, "small letters"),
        ({"a": one("a", "x", says="")}, "'says' is empty"),
        ({"a": one("a", "x") + 'see = ["a.z"]\n'}, "see names 'a.z'"),
        ({"a": one("a", "x") + "seen = 3\n"}, "unknown field `seen`.*the fields are id, where"),
        ({"a": one("a", "x").replace('"exact"', '"exakt"')}, "Invalid enum value 'exakt'.*exact, float, trained"),
        ({"a": one("a", "x").replace('title = "A lesson"', "")}, "missing required field `title`"),
        ({"a": one("a", "x").replace("[[claim]]", "[claim]")}, r"\[\[claim\]\]"),
        ({"a": one("a").replace("title", 'page_runs = "nothing"\ntitle')}, "page_runs 'nothing'"),
        ({"a": one("a").replace("title", "page_seed = -1\ntitle")}, "page_seed -1 is negative"),
        ({"a": one("a", "x") + '[[advice]]\nsays = "Do."\nclaims = ["a.y"]\n'}, "advice 1: 'a.y' is no claim"),
        (
            {"a": one("a", "x") + '[claim.erratum]\ntruth = "T."\n'},
            'erratum. belongs to a claim with expect = "depends"',
        ),
        ({"a": depends() + ADDITION}, 'addition. belongs to a claim with expect = "holds" alone'),
        ({"a": one("a", "x") + ADDITION.replace("T.", "")}, "addition.: the field 'truth' is empty"),
        ({"a": one("a", "x") + '[claim.addition]\ntruth = "T."\n'}, "missing required field `suggest`"),
        ({"a": refuted() + "[claim.corrected]\n" + CORRECTED.format("")}, "corrected.: the field 'says' is empty"),
        ({"a": refuted("ours = true") + "[claim.corrected]\n" + CORRECTED.format("No.")}, "ours can't be refuted"),
        ({"a": one("a", "x") + 'ours = "yes"\n'}, "Expected `bool`"),
        ({"a": one("a", "x") + UNDECIDED.replace("[[undecided]]", "[undecided]")}, r"\[\[undecided\]\], once for each"),
        ({"a": one("a", "x") + UNDECIDED.replace('reason = "Nobody measured it."', "")}, "undecided 1: .*`reason`"),
        ({"a": one("a", "x") + UNDECIDED.replace("Many do.", " ")}, "undecided 1: the field 'says' is empty"),
        ({"a": one("a", "x") + UNDECIDED + 'id = "a.y"\n'}, "undecided 1: .*unknown field `id`"),
    ],
)
def test_lessons_that_do_not_fit_together_are_refused(tmp_path: Path, files: dict[str, str], said: str) -> None:
    write(tmp_path, **files)
    with pytest.raises(RegistryError, match=said) as refused:
        load_registry(read_project(tmp_path))
    assert "\n" not in str(refused.value)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match=r"no lesson found: .*claims is no folder.*pyproject.toml"):
        load_registry(read_project(tmp_path))


def test_a_claim_is_found_by_its_words_in_any_order_and_case(tmp_path: Path) -> None:
    write(tmp_path, a=one("a", "x", says="The packed state is the final one.") + CLAIM.format(id="a.y", says="No."))
    registry = load_registry(read_project(tmp_path))
    assert registry.matching("Final PACKED") == ["a.x"]
    assert registry.matching("final packed other") == []
    assert registry.matching("a.y") == ["a.y"]
    assert registry.matching("a.*") == ["a.x", "a.y"]
    assert registry.matching(" ") == []


@pytest.mark.parametrize(
    ("words", "claim"),
    [
        ("packed final state", "week07.day4.packed-differs-from-padded"),
        ("clipping norm", "week07.day5.clipping-caps-norm"),
        ("counts chance", "week07.day1.counts-near-chance"),
    ],
)
def test_the_check_for_a_sentence_of_our_pages_is_found_in_one_step(words: str, claim: str) -> None:
    assert claim in load_registry(read_project(Path(__file__).parents[1])).matching(words)


def test_what_the_page_says_is_told_from_what_we_add(tmp_path: Path) -> None:
    claims = one("b", "x") + ADDITION + one("b", "y").removeprefix(LESSON.format(id="b")) + "ours = true\n"
    write(tmp_path, b=claims + UNDECIDED, c=LESSON.format(id="c"), c_day1=part("c", 1) + UNDECIDED)
    registry = load_registry(read_project(tmp_path))
    assert [claim.id for claim in registry.claims.values() if claim.is_of_the_page] == ["b.x", "c.day1.x"]
    assert (registry.claims["b.x"].truth, registry.claims["b.x"].suggest) == ("T.", "Say T.")
    assert registry.undecided == (
        Undecided("b", "", "the end", "Many do.", "Nobody measured it."),
        Undecided("c", "Day 1", "the end", "Many do.", "Nobody measured it."),
    )


def test_no_page_prints_a_figure_of_ours(tmp_path: Path) -> None:
    write(tmp_path, a=one("a", "x") + "ours = true\n")
    figures = "claim,figure,printed,kind,tolerance,where\na.x,size,3,exact,,the text\n"
    (tmp_path / "claims" / "a_figures.csv").write_text(figures, encoding="utf-8")
    with pytest.raises(RegistryError, match=r"figure 'size' belongs to a\.x, which is ours"):
        load_registry(read_project(tmp_path))
