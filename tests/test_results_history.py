"""The history keeps every run whole, whoever writes at the same time, and loses nothing but what is damaged."""

import errno
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.local import LocalFileSystem
from reports_nights import night, written

from lesson_claims.results import history
from lesson_claims.results.errors import ReportError

KIND = "cpu-x86_64"


def files(place):
    return sorted((place / KIND).iterdir())


def test_a_run_comes_back_with_every_digit(tmp_path):
    run = night(3, sample=[0.1 + 0.2, float("nan"), float("inf"), 1e-320])
    name = history.append(tmp_path, run)
    kept = history.load(tmp_path, KIND)
    assert kept.runs["name"].tolist() == [name]
    assert kept.runs["environment"][0] == run.info["environment"]
    pd.testing.assert_series_equal(kept.samples["value"], run.samples["value"])
    assert kept.samples["seed"].tolist() == run.samples["seed"].tolist()
    measured = kept.figures[kept.figures["figure"] != ""]
    assert measured["measured"].tolist() == run.measurements["measured"].tolist()
    verdicts = kept.figures[kept.figures["figure"] == ""]
    assert verdicts["verdict"].tolist() == run.claims["verdict"].tolist()


def test_words_that_look_missing_stay_words(tmp_path):
    history.append(tmp_path, night(exact="None", single="NA"))
    assert history.load(tmp_path, KIND).figures["measured"].tolist()[3:5] == ["None", "NA"]


def test_the_same_run_twice_is_one_file(tmp_path):
    assert history.append(tmp_path / "h", night()) == history.append(tmp_path / "h", night())
    assert history.append(tmp_path / "h", written(night(), tmp_path / "run")) == night().name
    assert len(files(tmp_path / "h")) == 1


def test_names_sort_by_time(tmp_path):
    names = [history.append(tmp_path, night(number)) for number in (4, 0, 11)]
    assert history.load(tmp_path, KIND).runs["name"].tolist() == sorted(names) == [names[1], names[0], names[2]]


def test_another_kind_of_device_has_its_own_history(tmp_path):
    history.append(tmp_path, night())
    history.append(tmp_path, night(environment={"device": "cuda", "device name": "NVIDIA H200 / 141 GB"}))
    assert history.device_kinds(tmp_path) == ["cpu-x86_64", "cuda-NVIDIA-H200-141-GB"]
    assert len(history.load(tmp_path, KIND).runs) == 1


def test_an_object_store_has_the_same_layout(tmp_path):
    place = f"memory://{uuid.uuid4().hex}"
    assert history.append(place, night()) == history.append(tmp_path, night())
    assert history.device_kinds(place) == [KIND]
    pd.testing.assert_frame_equal(history.load(place, KIND).figures, history.load(tmp_path, KIND).figures)


@pytest.mark.parametrize("damage", ["empty", "truncated", "foreign", "other parquet", "future", "bytes"])
def test_one_bad_file_costs_itself_alone_and_is_named(tmp_path, damage):
    history.append(tmp_path, night(0))
    history.append(tmp_path, night(1))
    bad = files(tmp_path)[0]
    content = bad.read_bytes()
    if damage == "empty":
        bad.write_bytes(b"")
    elif damage == "truncated":
        bad.write_bytes(content[: len(content) // 2])
    elif damage == "foreign":
        bad.write_text("claim,figure\n")
    elif damage == "bytes":
        bad.write_bytes(content[:4] + bytes(len(content) - 8) + content[-4:])
    else:
        table = pq.read_table(bad)
        metadata = {history.METADATA: json.dumps({"schema": 99, "run": {}})} if damage == "future" else {}
        pq.write_table(table.replace_schema_metadata(metadata), bad)
    kept = history.load(tmp_path, KIND)
    assert len(kept.runs) == 1
    (problem,) = kept.problems
    assert str(bad.name) in problem
    assert "\n" not in problem
    if damage == "future":
        assert "schema version 99" in problem


def test_a_run_from_before_a_column_was_added_or_dropped_is_read(tmp_path):
    """Reading takes the columns that it needs, and needs none that some schema version lacks."""
    history.append(tmp_path, night(0))
    (file,) = files(tmp_path)
    table = pq.read_table(file)
    described = json.loads(table.schema.metadata[history.METADATA])
    described["run"] |= {"schema": 1, "lessons": {"a": {"title": "A", "parts": ["Day 1 — first"]}}}
    table = table.drop_columns(["part", "where", "wins", "type", "controls"]).append_column(
        "controls", pa.array([""] * len(table))
    )
    pq.write_table(table.replace_schema_metadata({history.METADATA: json.dumps(described)}), file)
    kept = history.load(tmp_path, KIND, last=night(1))
    assert not kept.problems
    assert kept.runs["commit"].tolist() == ["c0ffee"] * 2
    assert kept.figures.groupby("run").size().tolist() == [6, 6]


def test_nothing_readable_is_an_error(tmp_path):
    history.append(tmp_path, night())
    files(tmp_path)[0].write_bytes(b"")
    with pytest.raises(ReportError, match="not one of 1 runs can be used"):
        history.load(tmp_path, KIND)


def test_no_history_has_no_runs(tmp_path):
    kept = history.load(tmp_path / "nowhere", KIND)
    assert (len(kept.runs), len(kept.figures), len(kept.samples)) == (0, 0, 0)


@pytest.mark.parametrize("step", ["write", "rename"])
def test_a_full_disk_loses_nothing_and_leaves_nothing(tmp_path, monkeypatch, step):
    history.append(tmp_path, night(0))
    before = files(tmp_path)

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(LocalFileSystem, "open" if step == "write" else "mv", full)
    with pytest.raises(ReportError, match="No space left"):
        history.append(tmp_path, night(1))
    assert files(tmp_path) == before


def test_an_unknown_kind_of_place_is_one_line():
    with pytest.raises(ReportError, match="no such kind of place"):
        history.append("nonsense://x", night())


def test_a_run_without_a_time_is_refused(tmp_path):
    with pytest.raises(ReportError, match="'started'"):
        history.append(tmp_path, night(started="yesterday"))


def _append_many(place, first, count):
    template = night()
    for number in range(first, first + count):
        template.info["started"] = night_time(number)
        history.append(place, template)


def night_time(number):
    return (pd.Timestamp("2026-01-01T00:00:00Z") + pd.Timedelta(days=number)).isoformat()


def test_two_writers_at_once(tmp_path):
    code = (
        "import sys; sys.path[:0] = sys.argv[1].split(';');"
        "import test_results_history as t; t._append_many(sys.argv[2], int(sys.argv[3]), 40)"
    )
    here = Path(__file__).parent
    path = f"{here};{here.parent}"
    writers = [subprocess.Popen([sys.executable, "-c", code, path, str(tmp_path), str(first)]) for first in (0, 20)]
    assert [writer.wait() for writer in writers] == [0, 0]
    kept = history.load(tmp_path, KIND)
    assert not kept.problems
    assert len(kept.runs) == len(files(tmp_path)) == 60


def test_reading_is_typed():
    kept = history.load("memory://empty", KIND, last=night())
    assert kept.samples.dtypes["value"] == np.float64
    assert kept.samples.dtypes["seed"] == np.int64
    assert pa.types.is_list(history._SCHEMA.field("sample").type)
