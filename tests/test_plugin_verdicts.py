"""What a verdict is: figures, seeds, looks and records, in a project of toys whose runs are foreseen."""

from __future__ import annotations

import pytest
from plugin_project import Project, more_than_half, toy_check

from lesson_claims.command_line import main
from lesson_claims.results.tables import read_run
from lesson_claims.runs.store import RunStore

pytest_plugins = ["pytester"]

FIGURE = "course.day1.a,accuracy,{printed},{kind},here,{tolerance}\n"
SPLIT = "++-+-"
"""Wins in three of five seeds, which few seeds do not tell from one half."""


def trained(project: Project, printed: str, page: float, expect: str = "holds", pattern: str = "+", marks: str = ""):
    """A claim with a figure of a training run, and nothing else that decides."""
    body = f'measure("accuracy", evidence(Toy("{pattern}", {page}))["value"], bounds=(0, 1))'
    project.toy(
        {"a": expect}, toy_check("a", body, marks), FIGURE.format(printed=printed, kind="trained", tolerance="")
    )


def baseline(project: Project, platforms: dict[str, float] | None = None, wins: tuple[int, int] | None = None) -> None:
    rows = "".join(f"course.day1.a,accuracy,{name},{value},\n" for name, value in (platforms or {}).items())
    if platforms:
        project.write("reports/baseline/cpu-x86_64/platforms.csv", f"claim,figure,platform,value,machine\n{rows}")
    if wins:
        row = f"course.day1.a,holds,{wins[0]},{wins[1]}\n"
        project.write("reports/baseline/cpu-x86_64/run/claims.csv", f"claim,verdict,wins,seeds\n{row}")


# Printed figures of training runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", ["auto", "5", "20", "40"])
def test_a_figure_that_is_plainly_wrong_refutes_with_any_number_of_seeds(project: Project, seeds: str) -> None:
    """Among seeds that give 0 or 1, nothing is too unlikely for an interval."""
    trained(project, "0.4245", 0.9245, pattern="+-")
    baseline(project, {"old": 0.92, "new": 0.93})
    assert project.run("--seeds", seeds).ret == 1
    row = project.claim("a")
    assert (row["verdict"], row["changed"]) == ("refuted", "True")
    assert "not reproduced on the 2 platforms tried (old, new)" in row["evidence"]
    count = {"auto": 6}.get(seeds) or int(seeds)
    assert f"{count // 2} of {count} other seeds give less than is printed" in row["evidence"]
    assert project.agreements() == {"accuracy": "outside"}
    (measured,) = project.rows("measurements")
    assert (measured["page_low"], measured["page_high"], measured["platforms"]) == ("0.92", "0.93", "2")


@pytest.mark.parametrize(("printed", "verdict"), [("0.92", "holds"), ("0.87", "holds"), ("0.86", "refuted")])
def test_no_leg_turns_the_verdict_of_a_baseline_with_platforms(project: Project, printed: str, verdict: str) -> None:
    told = set()
    for here in (0.90, 0.915, 0.94):
        trained(project, printed, here)
        baseline(project, {"old": 0.90, "new": 0.93})
        project.run("--seeds", "6")
        told.add((project.claim("a")["verdict"], project.claim("a")["changed"]))
    assert told == {(verdict, str(verdict == "refuted"))}


def test_a_leg_that_gives_what_no_platform_gave_is_in_error(project: Project) -> None:
    trained(project, "0.92", 0.6)
    baseline(project, {"old": 0.90, "new": 0.93})
    result = project.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*UnlikeRecord: course.day1.a: accuracy: the page's seed gives 0.6 here, and 0.9 to*"])
    assert project.claim("a")["verdict"] == "error"
    assert "accept --platforms" in project.claim("a")["evidence"]


@pytest.mark.parametrize(
    ("platforms", "expect", "marks", "outcome", "verdict", "changed"),
    [
        ({"old": 0.88, "new": 0.94}, "depends", "@depends_on_seed\n", "skipped", "inconclusive", "False"),
        ({"old": 0.88, "new": 0.94}, "holds", "", "failed", "inconclusive", "True"),
        ({"old": 0.88, "new": 0.94}, "open", "", "skipped", "inconclusive", "False"),
        ({"old": 0.91, "new": 0.94}, "depends", "@depends_on_seed\n", "failed", "holds", "True"),
        ({"old": 0.61, "new": 0.64}, "depends", "@depends_on_seed\n", "failed", "refuted", "True"),
    ],
)
def test_a_figure_that_depends_on_the_machine(
    project: Project, platforms: dict[str, float], expect: str, marks: str, outcome: str, verdict: str, changed: str
) -> None:
    trained(project, "0.92", sum(platforms.values()) / 2, expect, marks=marks)
    baseline(project, platforms)
    result = project.run("--seeds", "6")
    result.assert_outcomes(**{outcome: 1})
    assert result.ret == int(outcome == "failed")
    row = project.claim("a")
    assert (row["verdict"], row["changed"]) == (verdict, changed)
    assert ("depends on the machine" in row["evidence"]) == (verdict == "inconclusive")
    assert (project.agreements()["accuracy"] == "depends on the machine") == (verdict == "inconclusive")


# What only measures --------------------------------------------------------------------------------------------------

ONLY_MEASURES = {
    "missing": 'measure.missing("accuracy", "there was no time")',
    "also": 'measure.also("mine", 3)\nif 0: measure("accuracy", 0)',
    "also over seeds": 'measure.also("mine", evidence(Toy())["value"])\nif 0: measure("accuracy", 0)',
    "curve": 'measure.curve("p", [1], [2])\nif 0: measure("accuracy", 0)',
    "figure": 'measure("accuracy", 0.9)',
}


@pytest.mark.parametrize(
    ("kind", "how", "figure"),
    [
        *((kind, "also over seeds", "trained") for kind in ("exact", "float", "trained", "behaviour", "scaling")),
        *(("ordering", how, "trained") for how in ONLY_MEASURES if how != "figure"),
        ("ordering", "figure", "stated"),
        ("trained", "figure", "clock"),
    ],
)
def test_a_claim_of_any_kind_whose_check_only_measures_is_in_error(
    project: Project, kind: str, how: str, figure: str
) -> None:
    figures = FIGURE.format(printed="0.9", kind=figure, tolerance="")
    checks = toy_check("a", ONLY_MEASURES[how]) + toy_check("b", 'decide(that(True, "So."))')
    project.toy({"a": "holds", "b": "holds"}, checks, figures)
    project.replace("claims/course_day1.toml", 'kind = "ordering"', f'kind = "{kind}"')
    assert project.run().ret == 1
    assert project.claim("a")["verdict"] == "error"
    assert "RuntimeError: the check of course.day1.a " in project.claim("a")["evidence"]
    assert "could never fail" in project.claim("a")["evidence"]


# Seeds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("recipe", "seeds", "verdict"),
    [
        ("Constant()", "6", "error"),
        ("Constant()", "auto", "error"),
        ("Seedless()", "6", "holds"),
        ("Toy()", "6", "holds"),
    ],
)
def test_a_recipe_that_ignores_its_seed_is_refused_unless_it_says_so(
    project: Project, recipe: str, seeds: str, verdict: str
) -> None:
    body = f'found = evidence({recipe})["value"]\ndecide(that(bool((found.values == found.values[0]).all()), "So."))'
    project.toy({"a": "holds", "b": "holds"}, toy_check("a", body) + toy_check("b", 'decide(that(True, "So."))'))
    result = project.run("--seeds", seeds)
    assert project.claim("a")["verdict"] == verdict
    if verdict == "error":
        assert result.ret == 1
        assert "7 seeds gave the very same run, which is no evidence over seeds" in project.claim("a")["evidence"]


def test_a_seedless_recipe_has_one_run_also_where_others_are_looked_at_again(project: Project) -> None:
    checks = toy_check("a", f'assert len(evidence(Seedless())["value"]) == 1\n{more_than_half(SPLIT)}')
    project.toy({"a": "open"}, checks)
    project.run("--run-store=runs", "--seeds=auto:8")
    kept = [path.read_text(encoding="utf-8") for path in project.pytester.path.glob("runs/*/*.json")]
    assert sum("Seedless" in text for text in kept) == 1
    assert sum("Toy" in text for text in kept) == 9


@pytest.mark.parametrize(("page_seed", "first"), [(0, 0), (3, 0), (3, 3), (3, 2), (0, 5), (11, 5)])
@pytest.mark.parametrize("seeds", ["6", "auto"])
def test_the_page_s_own_seed_is_no_witness(project: Project, page_seed: int, first: int, seeds: str) -> None:
    body = f"""
        found = evidence(Toy())["seed"]
        expected = [seed for seed in range({first}, {first} + 7) if seed != {page_seed}][:6]
        decide(that(list(found.seeds) == expected, "The seeds are those."), that(found.page == {page_seed}, "So."))
        decide(that(list(found.values) == expected, "The runs are those."))
        """
    project.toy({"a": "holds"}, toy_check("a", body))
    project.replace("claims/course.toml", "title =", f"page_seed = {page_seed}\ntitle =")
    project.run("--seeds", seeds, "--first-seed", str(first))
    assert project.claim("a")["verdict"] == "holds", project.claim("a")["evidence"]


@pytest.mark.parametrize(
    ("pattern", "cap", "verdict", "wins", "seeds"),
    [
        ("+", "auto", "holds", 6, 6),
        ("-", "auto", "refuted", 0, 6),
        ("+-", "auto", "inconclusive", 10, 20),
        ("+-", "auto:8", "inconclusive", 4, 8),
        ("+-", "auto:13", "inconclusive", 7, 13),
        ("-" + "+" * 30, "auto:40", "holds", 11, 12),
        ("+-+" + "-" * 30, "auto", "refuted", 2, 14),
    ],
)
def test_seeds_are_added_until_a_claim_is_decided(
    project: Project, pattern: str, cap: str, verdict: str, wins: int, seeds: int
) -> None:
    project.toy({"a": "open"}, toy_check("a", f"print(len(evidence(Toy())['value']))\n{more_than_half(pattern)}"))
    project.run("--seeds", cap)
    row = project.claim("a")
    assert (row["verdict"], row["wins"], row["seeds"]) == (verdict, str(wins), str(seeds))
    assert (f"So far it depends on the seed: {wins} of {seeds}." in row["evidence"]) == (verdict == "inconclusive")
    (decision,) = project.rows("decisions")
    assert (decision["wins"], decision["seeds"]) == (str(wins), str(seeds))
    assert (float(decision["p"]) <= float(decision["level"])) == (verdict != "inconclusive")
    assert project.info["seeds"] == 6
    assert project.info["options"]["seeds"] == cap


def test_every_look_from_the_first_to_the_cap_is_taken_once(project: Project) -> None:
    body = f"open('looks.txt', 'a').write(f'{{len(evidence(Toy())[\"value\"])}} ')\n{more_than_half('+-')}"
    project.toy({"a": "open"}, toy_check("a", body))
    project.run("--seeds", "auto:30")
    looks = (project.pytester.path / "looks.txt").read_text(encoding="utf-8")
    assert looks == "6 8 10 12 14 16 18 20 30 "


def test_a_fixed_number_is_decided_by_exact_p_at_one_look(project: Project) -> None:
    """15 wins of 20 have p = .021, and an e-value that is nowhere near 20."""
    pattern = "+++-" * 5
    checks = toy_check("a", more_than_half(pattern))
    project.toy({"a": "open"}, checks)
    project.run("--seeds", "20")
    (decision,) = project.rows("decisions")
    assert (project.claim("a")["verdict"], float(decision["p"])) == ("holds", pytest.approx(0.0207, abs=1e-4))
    assert project.info["seeds"] == 20
    project.run("--seeds", "auto")
    assert project.claim("a")["verdict"] == "inconclusive"


def test_too_few_seeds_say_so_and_make_no_run_that_no_page_made(project: Project) -> None:
    project.toy({"a": "holds"}, toy_check("a", more_than_half("+")))
    project.replace("claims/course.toml", "title =", 'page_runs = "toy:RUNS"\ntitle =')
    toy = project.pytester.path / "lessons" / "toy.py"
    toy.write_text(toy.read_text(encoding="utf-8") + '\nRUNS = {"constant": Seedless()}\n', encoding="utf-8")
    result = project.run("--seeds", "4", "--run-store=runs")
    assert result.ret == 0
    assert project.claim("a")["verdict"] == "inconclusive"
    assert "Needs at least 5 seeds" in project.claim("a")["evidence"]
    assert not list(project.pytester.path.glob("runs/*/*.json"))


def test_the_next_look_asks_for_the_runs_of_all_recipes_at_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that idle processes find something to do, and not one recipe after the other."""
    asked: list[list[tuple[str, int]]] = []
    all_of = RunStore.all_of

    def noted(store, wanted, device):
        asked.append([(recipe.pattern, seed) for recipe, seed in wanted])
        return all_of(store, wanted, device)

    monkeypatch.setattr(RunStore, "all_of", noted)
    body = 'a, b = (evidence(Toy(each))["value"] for each in ("+-", "-+"))\ndecide(beats(a, b))'
    project.toy({"a": "open"}, toy_check("a", body))
    project.run("--seeds", "auto:8")
    first = [[(pattern, seed) for seed in range(7)] for pattern in ("+-", "-+")]
    together = [(pattern, seed) for seed in range(1, 9) for pattern in ("+-", "-+")]
    again = [[(pattern, seed) for seed in range(9)] for pattern in ("+-", "-+")]
    assert asked == [*first, together, *again]


# One claim among others ----------------------------------------------------------------------------------------------

FOUR = {"a": "holds", "b": "holds", "c": "refuted", "d": "open"}
FOUR_CHECKS = (
    toy_check("a", more_than_half("+"))
    + toy_check("b", more_than_half("+" * 12 + "-"))
    + toy_check("c", more_than_half("-"), "@refuted\n")
    + toy_check("d", more_than_half("+" * 7 + "-" + "+" * 12), '@pytest.mark.parametrize("n", [1, 2])\n', "n")
)


def told(project: Project, folder: str) -> dict[str, tuple[str, ...]]:
    """What a report says of each claim that ran, its time apart."""
    run = read_run(project.pytester.path / folder)
    columns = ["claim", "verdict", "changed", "wins", "seeds", "evidence"]
    claims = {row[0]: row[1:] for row in run.claims[columns].itertuples(index=False, name=None) if row[1] != "not run"}
    levels = list(run.decisions[["claim", "p", "level"]].itertuples(index=False, name=None))
    return {**claims, **{f"levels of {claim}": tuple(row for row in levels if row[0] == claim) for claim in claims}}


@pytest.mark.parametrize("seeds", ["auto", "auto:8", "6", "20"])
def test_a_claim_has_one_verdict_alone_in_a_part_and_in_the_whole(project: Project, seeds: str) -> None:
    project.toy(FOUR, FOUR_CHECKS)
    options = ("--seeds", seeds, "--run-store=runs")
    project.run(*options, "--report-dir=whole")
    whole = told(project, "whole")
    assert {name.rpartition(".")[2] for name in whole if "levels" not in name} == {"a", "b", "c", "corrected", "d"}
    for name in FOUR:
        project.run(*options, f"--report-dir=one-{name}", "--claim", f"course.day1.{name}")
        alone = told(project, f"one-{name}")
        assert alone == {key: value for key, value in whole.items() if key in alone}
        assert f"course.day1.{name}" in alone
    folders = [str(project.pytester.path / f"one-{name}") for name in FOUR]
    assert main(["merge", *folders, "--output", str(project.pytester.path / "merged")]) == 0
    assert told(project, "merged") == whole


def test_workers_change_no_verdict(project: Project) -> None:
    project.toy(FOUR, FOUR_CHECKS)
    project.run("--report-dir=whole")
    result = project.run_apart("-n", "2", "--report-dir=shared")
    assert result.ret == 0
    assert told(project, "shared") == told(project, "whole")


def test_shards_over_other_seeds_are_not_of_one_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.toy(FOUR, FOUR_CHECKS)
    project.run("--report-dir=a", "--claim=course.day1.a", "--seeds=6")
    project.run("--report-dir=b", "--claim=course.day1.b", "--seeds=auto")
    project.run("--report-dir=c", "--claim=course.day1.b", "--seeds=6", "--first-seed=50")
    capsys.readouterr()
    for other, said in (("b", "option seeds is 'auto', but '6'"), ("c", "option first_seed is 50, but 0")):
        folders = [str(project.pytester.path / name) for name in ("a", other)]
        assert main(["merge", *folders, "--output", str(project.pytester.path / "merged")]) == 2
        assert said in capsys.readouterr().err


def test_the_level_follows_from_the_claims_on_record_and_not_from_those_that_ran(project: Project) -> None:
    project.toy(FOUR, FOUR_CHECKS)
    project.run("--seeds=6", "--claim=course.day1.a")
    (before,) = project.rows("decisions")
    names = [f"e{number}" for number in range(50)]
    more = "".join(toy_check(name, more_than_half("+-")) for name in names)
    project.toy({**FOUR, **dict.fromkeys(names, "open")}, FOUR_CHECKS + more)
    project.run("--seeds=6", "--claim=course.day1.a")
    (after,) = project.rows("decisions")
    assert (float(before["level"]), float(after["level"])) == (
        pytest.approx(0.05 * 2 / 4),
        pytest.approx(0.05 * 2 / 54),
    )
    assert (before["verdict"], after["verdict"]) == ("holds", "inconclusive")
    facts = "".join(toy_check(name, 'decide(that(True, "So."))').replace(", evidence", "") for name in names)
    project.toy({**FOUR, **dict.fromkeys(names, "open")}, FOUR_CHECKS + facts)
    project.run("--seeds=6", "--claim=course.day1.a")
    assert project.rows("decisions")[0]["level"] == before["level"], "a fact is no test"


def test_a_sample_that_is_no_evidence_is_a_test_all_the_same(project: Project) -> None:
    facts = "".join(
        f'@claim("course.day1.{name}")\ndef test_{name}(decide):\n    decide({decision})\n\n'
        for name, decision in {
            "a": "beats([1.0] * 6, 0.0)",
            "b": "equivalent([0.0] * 6, 0.0, margin=1)",
            "c": 'in_most_seeds([True] * 6, what="it")',
            "d": "share(90, 100, at_least=0.5)",
            "e": 'that(True, "So.")',
        }.items()
    )
    project.toy(dict.fromkeys("abcde", "open"), facts)
    project.replace("claims/test_course_day1.py", "import beats", "import beats, in_most_seeds, share")
    project.run()
    assert {float(row["level"]) for row in project.rows("decisions")} == {0.05 / 4, 0.0}


@pytest.mark.parametrize(
    "nodes", [["::test_d[n=2]"], ["::test_a", "::test_b", "::test_c", "::test_c__corrected", "::test_d[n=2]"]]
)
def test_a_part_of_a_claim_is_no_verdict_on_it_and_moves_no_level(project: Project, nodes: list[str]) -> None:
    """A node named on the command line is collected alone, so that its siblings are never deselected."""
    project.toy(FOUR, FOUR_CHECKS)
    project.run("--seeds=6", "--report-dir=whole")
    project.run("--seeds=6", *(f"claims/test_course_day1.py{node}" for node in nodes))
    assert project.claim("d")["verdict"] == "not run"
    assert project.info["partial"] is True
    whole = read_run(project.pytester.path / "whole").decisions
    (level,) = {row["level"] for row in project.rows("decisions") if row["claim"] == "course.day1.d"}
    assert {float(level)} == set(whole.loc[whole["claim"] == "course.day1.d", "level"])


# Records -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expect", "pattern", "wins", "red"),
    [
        ("holds", "+-", None, True),
        ("holds", "+-", (60, 60), True),
        ("holds", "+-", (33, 60), False),
        ("holds", "++-+-++-", None, False),
        ("refuted", "+-", None, True),
        ("refuted", "---+----+-", None, False),
    ],
)
def test_a_claim_at_chance_is_red_where_that_contradicts_its_record(
    project: Project, expect: str, pattern: str, wins: tuple[int, int] | None, red: bool
) -> None:
    """As where somebody has shuffled the labels: undecided, and yet not what it was."""
    marks = "@refuted\n" if expect == "refuted" else ""
    others = "".join(toy_check(f"e{number}", more_than_half("+")) for number in range(20))
    claims = {"a": expect, **{f"e{number}": "open" for number in range(20)}}
    project.toy(claims, toy_check("a", more_than_half(pattern), marks) + others)
    baseline(project, wins=wins)
    result = project.run("--seeds=20", "--claim=course.day1.a")
    row = project.claim("a")
    assert row["verdict"] == "inconclusive"
    assert (result.ret, row["changed"]) == (int(red), str(red))
    if red:
        result.stdout.fnmatch_lines(
            [f"*RecordContradicted: course.day1.a is on record as {expect}, and 10 wins of 20*"]
        )


@pytest.mark.parametrize(
    ("expect", "pattern", "outcome", "changed"),
    [
        ("holds", "+", "passed", "False"),
        ("holds", "-", "failed", "True"),
        ("holds", "++-", "skipped", "False"),
        ("refuted", "-", "xfailed", "False"),
        ("refuted", "+", "failed", "True"),
        ("refuted", "--+", "skipped", "False"),
        ("depends", "+-", "skipped", "False"),
        ("depends", "+", "failed", "True"),
        ("depends", "-", "failed", "True"),
        ("open", "+", "passed", "False"),
        ("open", "+-", "skipped", "False"),
        ("open", "-", "skipped", "False"),
    ],
)
def test_pytest_and_the_report_agree(project: Project, expect: str, pattern: str, outcome: str, changed: str) -> None:
    marks = {"refuted": "@refuted\n", "depends": "@depends_on_seed\n"}.get(expect, "")
    project.toy({"a": expect}, toy_check("a", more_than_half(pattern), marks))
    result = project.run("--seeds", "6")
    counts = result.parseoutcomes()
    counts["passed"] = counts.get("passed", 0) - (expect == "refuted")  # its corrected sibling
    assert {name for name in ("passed", "failed", "skipped", "xfailed") if counts.get(name)} == {outcome}
    row = project.claim("a")
    verdict = {"+": "holds", "-": "refuted"}.get(pattern, "inconclusive")
    assert (row["verdict"], row["changed"]) == (verdict, changed)
    assert (result.ret == 1) == (changed == "True")
    said = result.stdout.str()
    assert ("changed: nothing" in said) == (changed == "False")


@pytest.mark.parametrize(
    ("expect", "mark"), [("holds", "@depends_on_seed\n"), ("depends", ""), ("depends", "@refuted\n")]
)
def test_a_mark_that_says_otherwise_than_the_registry_is_refused(project: Project, expect: str, mark: str) -> None:
    project.toy({"a": expect}, toy_check("a", more_than_half("+"), mark))
    result = project.run("claims")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: claim course.day1.a is on record as {expect!r}, and its checks say otherwise*"]
    )


def test_every_tie_refutes_that_one_beats_the_other_and_not_that_they_are_equal(project: Project) -> None:
    body = "a = evidence(Toy())['value']\ndecide({})"
    checks = toy_check("a", body.format("beats(a, a)"), "@refuted\n")
    checks += toy_check("b", body.format("equivalent(a, a, margin=0.1)")) + toy_check(
        "c", body.format("equivalent(a, 0.0, margin=1.0)")
    )
    project.toy({"a": "refuted", "b": "holds", "c": "open"}, checks)
    result = project.run("--seeds", "20")
    assert result.ret == 0
    assert [project.claim(name)["verdict"] for name in "abc"] == ["refuted", "holds", "inconclusive"]


@pytest.mark.parametrize("text", ["auto:3", "x", "0", "auto:", "-1", "2.5", "auto:999999999", "999999999999"])
def test_a_bad_number_of_seeds_is_refused_in_one_line(project: Project, text: str) -> None:
    result = project.run("claims", f"--seeds={text}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert line.startswith(f"ERROR: --seeds {text}: ")
    assert not (project.report / "run.json").exists()


def test_a_damaged_baseline_is_refused_in_one_line(project: Project) -> None:
    project.write("reports/baseline/cpu-x86_64/run/claims.csv", "claim,verdict,wins,seeds\na,holds,9,5\n")
    result = project.run("claims")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line.strip()]
    assert line.endswith("a has 9 wins of 5 seeds, which cannot be; restore the file from git")
