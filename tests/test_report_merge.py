"""Shards of one run put together: nothing lost, nothing taken twice, nothing mixed that does not belong together."""

import pytest
import reports_fixtures

from lesson_claims.command_line import main
from lesson_claims.report.merge import merge
from lesson_claims.results.errors import ReportError
from lesson_claims.results.tables import Run, read_run, write_tables


def claim(name, verdict, **more):
    return {"claim": name, "lesson": "l", "verdict": verdict, "seconds": 1.5, **more}


def shard(a, b, figures=(), info=None, **more):
    """Make a run of two claims with the verdicts given."""
    verdicts = {"a": a, "b": b}
    return Run.from_rows(
        info={"complete": True, "environment": {"numerics": "1f", "workers": 2}, "seconds": 10.0, **(info or {})},
        claims=[claim(name, verdict) for name, verdict in verdicts.items()],
        measurements=[
            {"claim": name, "figure": "f", "measured": 0.5 if verdict != "not run" else None, "seconds": 1.0}
            for name, verdict in verdicts.items()
        ],
        decisions=[{"claim": name, "verdict": verdict} for name, verdict in verdicts.items() if verdict != "not run"],
        **more,
    )


def merged(*runs):
    return merge([(f"shard-{number}", run) for number, run in enumerate(runs, start=1)])


def test_each_claim_comes_from_where_it_ran():
    run = merged(shard("not run", "holds"), shard("refuted", "not run"))
    assert run.claims["verdict"].tolist() == ["refuted", "holds"]
    assert run.measurements["measured"].tolist() == ["0.5", "0.5"]
    assert run.decisions["claim"].tolist() == ["a", "b"]
    assert run.info["complete"]
    assert run.info["seconds"] == 20.0
    assert run.info["counts"] == {"holds": 1, "refuted": 1, "inconclusive": 0, "error": 0, "not run": 0}


def test_what_ran_nowhere_makes_the_run_incomplete():
    assert not merged(shard("not run", "holds"), shard("not run", "not run")).info["complete"]


def test_what_nobody_selected_does_not():
    parts = [shard("not run", "holds", info={"selected": word}) for word in ("--claim b", "-k b")]
    run = merged(*parts)
    assert run.info["complete"]
    assert run.info["selected"] == "--claim b / -k b"


def test_a_merged_run_is_partial_where_a_claim_did_not_run():
    shards = [shard("not run", "holds", info={"partial": True}), shard("holds", "not run", info={"partial": True})]
    assert merged(*shards).info["partial"] is False
    assert merged(*shards[:1]).info["partial"] is True
    assert merged(shard("holds", "holds")).info["partial"] is False


def test_an_incomplete_shard_makes_the_run_incomplete():
    assert not merged(shard("holds", "not run"), shard("not run", "holds", info={"complete": False})).info["complete"]


def test_the_same_result_twice_is_no_conflict_even_if_it_took_longer():
    one, other = shard("holds", "not run"), shard("holds", "holds")
    other.claims.loc[0, "seconds"] = 99.0
    assert merged(one, other).claims["seconds"].tolist() == [1.5, 1.5]


def test_different_results_are_named():
    with pytest.raises(
        ReportError, match=r"shard-2: claim 'a' also ran in shard-1, with another result in claims\.csv"
    ):
        merged(shard("holds", "holds"), shard("refuted", "not run"))


def test_different_numbers_behind_one_verdict_are_named():
    other = shard("holds", "not run")
    other.measurements.loc[0, "measured"] = "0.25"
    with pytest.raises(ReportError, match=r"another result in measurements\.csv"):
        merged(shard("holds", "holds"), other)


@pytest.mark.parametrize(
    ("info", "named"),
    [
        ({"commit": "abc"}, "commit is 'abc', but None"),
        ({"seeds": 7}, "seeds is 7, but 0"),
        (
            {"undecided": [dict.fromkeys(("lesson", "part", "where", "says", "reason"), "x")]},
            r"undecided is \[{.*, but \[\] in",
        ),
        ({"options": {"seeds": "auto"}}, "option seeds is 'auto', but None"),
        ({"options": {"first_seed": 50}}, "option first_seed is 50, but None"),
        ({"environment": {"numerics": "2e"}}, "numerics is '2e', but '1f'"),
    ],
)
def test_runs_that_do_not_belong_together_are_named(info, named):
    with pytest.raises(ReportError, match=named):
        merged(shard("holds", "not run"), shard("not run", "holds", info=info))


def test_other_claims_are_named():
    other = Run.from_rows(info={"complete": True, "environment": {"numerics": "1f"}}, claims=[claim("c", "holds")])
    with pytest.raises(ReportError, match="other claims than in shard-1"):
        merged(shard("holds", "holds"), other)


def test_settings_that_differ_are_all_named():
    run = merged(
        shard("holds", "not run"), shard("not run", "holds", info={"environment": {"numerics": "1f", "workers": 4}})
    )
    assert run.info["environment"]["workers"] == "2 / 4"


def test_a_run_cut_in_two_comes_back_whole(tmp_path, capsys):
    whole = reports_fixtures.realistic(per_day=3)
    for number in (0, 1):
        part = reports_fixtures.realistic(per_day=3)
        lost = set(part.claims["claim"][number::2])
        for name, frame in part.tables().items():
            if name == "settings":
                continue
            if name == "claims":
                frame.loc[frame["claim"].isin(lost), "verdict"] = "not run"
            else:
                setattr(part, name, frame[~frame["claim"].isin(lost)])
        write_tables(part, tmp_path / str(number))
    assert main(["merge", str(tmp_path / "1"), str(tmp_path / "0"), "--output", str(tmp_path / "whole")]) == 0
    assert capsys.readouterr().out.strip().endswith("index.html")
    back = read_run(tmp_path / "whole")
    for name, frame in whole.tables().items():
        assert back.tables()[name].to_csv() == frame.to_csv(), name
    assert back.info["complete"]


def test_another_schema_version_is_one_line(tmp_path, capsys):
    write_tables(shard("holds", "holds"), tmp_path)
    file = tmp_path / "run.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"schema": 3', '"schema": 4'), encoding="utf-8")
    assert main(["merge", str(tmp_path), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "schema version 4" in error
    assert not (tmp_path / "out").exists()
