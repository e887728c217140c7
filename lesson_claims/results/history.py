"""The history: every run that was kept, one immutable Parquet file each, on a disk or in an object store.

Layout: `HISTORY/<device kind>/<UTC time>-<content hash>.parquet`. A name sorts by time, and the same run always has
the same name. A file holds one row per claim (no figure) and one per figure with its per-seed sample; `run.json` and
the schema version are in its metadata. Nothing is ever rewritten, so any number of runs may be added at once.

A baseline (`results.baseline`), whose runs are plain tables, is read as a history, too.
"""

import contextlib
import json
import re
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lesson_claims.results.baseline import is_baseline, run_folders
from lesson_claims.results.columns import TABLES, Column
from lesson_claims.results.errors import ReportError
from lesson_claims.results.run_name import started
from lesson_claims.results.tables import Run, read_run

SCHEMA = 1
METADATA = b"lesson-claims"
CHUNK = 256  # files fetched and joined at a time: bounds the memory that reading needs
READ = (
    "claim",
    "figure",
    "kind",
    "verdict",
    "measured",
    "type",
    "tolerance",
    "unit",
    "wins",
    "seeds",
    "facts",
    "seed",
    "sample",
)
ADDED = ("type", "wins", "facts")
"""Columns of `READ` that files of earlier versions lack; there they are empty."""

_TYPES = {"text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "flag": pa.bool_()}
_REPEATED = dict.fromkeys(
    ("claim", "figure", "kind", "verdict", "type", "facts"), pa.dictionary(pa.int32(), pa.string())
)
_COLUMNS: dict[str, Column] = {column.name: column for name in ("claims", "measurements") for column in TABLES[name]}
_SCHEMA = pa.schema(
    [(name, _REPEATED.get(name, _TYPES[column.type])) for name, column in _COLUMNS.items()]
    + [("seed", pa.list_(pa.int64())), ("sample", pa.list_(pa.float64()))]
)

Found = tuple[dict[str, Any], pa.Table] | str
"""What a file says of its run, and its rows of `READ`; or what is wrong with it."""


@dataclass
class History:
    """The runs of one device kind, oldest first, as three tidy tables; `run` is the position of a run in `runs`.

    runs: name, started (UTC), commit, dirty, partial (incomplete, or without some of the checks), seeds, first_seed (-1
    if unknown), numerics, environment (dict). figures: run, claim, figure (empty for the claim itself), kind, verdict,
    measured (text), type (of it), tolerance (float64), unit, wins, seeds, facts. samples: run, claim, figure, seed
    (int64), value (float64). What is unknown is missing. `problems` names the files that could not be used, one line
    each.
    """

    runs: pd.DataFrame
    figures: pd.DataFrame
    samples: pd.DataFrame
    problems: list[str] = field(default_factory=list)


def device_kind(environment: dict[str, Any]) -> str:
    """Return the kind of machine whose runs are compared with one another, as a folder name, e.g. `cpu-x86_64`.

    A processor's model is left out: hosted runners change it from night to night, and a seed distribution hardly
    depends on it. What does depend on it is compared by the numerics fingerprint.
    """
    device = str(environment.get("device") or "cpu").split(":")[0]
    if device == "cpu":
        machine = re.search(r"x86_64|amd64|aarch64|arm64", str(environment.get("platform", "")), re.IGNORECASE)
        detail = machine[0].lower().replace("amd64", "x86_64").replace("aarch64", "arm64") if machine else "unknown"
    else:
        detail = str(environment.get("device name") or "unknown")
    return re.sub(r"[^A-Za-z0-9_]+", "-", f"{device}-{detail}").strip("-")


def append(history: str | Path, run: Run | str | Path) -> str:
    """Add a run, or the run in a report directory, to `history` (a folder or an fsspec URL) and return its name.

    A run that is there already is left as it is. Raises ReportError where the run cannot be read or written; a run
    that could not be written whole is not in the history. A baseline is refused: `accept` alone renews one.
    """
    if is_baseline(history):
        raise ReportError(f"{history}: is a baseline, which `lesson-claims accept` renews; name another folder")
    run = run if isinstance(run, Run) else read_run(run)
    name = run.name
    sink = pa.BufferOutputStream()
    pq.write_table(_table(run), sink, compression="zstd")
    write_once(history, f"{device_kind(run.info['environment'])}/{name}.parquet", sink.getvalue().to_pybytes())
    return name


def keeps(history: str | Path, run: Run) -> bool:
    """Say whether a history has this run.

    Raises ReportError where the history cannot be reached.
    """
    files, root = _file_system(history)
    try:
        return bool(files.exists(f"{root}/{device_kind(run.info['environment'])}/{run.name}.parquet"))
    except OSError as error:
        raise ReportError(f"{history}: cannot be reached: {error.strerror or error}; check the path") from error


def is_missing(history: str | Path) -> bool:
    """Say whether a history is a local folder that is not there."""
    return "://" not in str(history) and not Path(history).is_dir()


def write_once(history: str | Path, relative: str, content: bytes) -> None:
    """Write an immutable file of a history under a temporary name, then rename it.

    Raises ReportError, leaving nothing behind.
    """
    files, root = _file_system(history)
    final = f"{root}/{relative}"
    folder = final.rsplit("/", 1)[0]
    temporary = f"{folder}/.{uuid.uuid4().hex}.tmp"
    try:
        if files.exists(final):
            return
        files.makedirs(folder, exist_ok=True)
        with files.open(temporary, "wb") as file:
            file.write(content)
        files.mv(temporary, final)
    except OSError as error:
        with contextlib.suppress(OSError):  # it was never made, or the place is gone; the first error says which
            files.rm(temporary)
        reason = error.strerror or str(error)
        raise ReportError(f"{history}: cannot keep {relative}: {reason}; make room or name another place") from error


def read_files(history: str | Path, folder: str, suffix: str) -> Iterator[dict[str, bytes | Exception]]:
    """Yield the files of a folder of a history, by name and in order, a chunk at a time; an error for a lost one."""
    files, root = _file_system(history)
    try:
        found = sorted(name for name in files.ls(f"{root}/{folder}", detail=False) if name.endswith(suffix))
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReportError(f"{history}: cannot be listed: {error.strerror or error}; check the path") from error
    for start in range(0, len(found), CHUNK):
        names = found[start : start + CHUNK]
        contents = files.cat(names, on_error="return")
        yield {name: contents[name] for name in names}


def read_text(history: str | Path, relative: str) -> str:
    """Return the text of a file of a history; empty where there is none."""
    files, root = _file_system(history)
    try:
        return str(files.cat_file(f"{root}/{relative}").decode("utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{history}/{relative}: cannot be read ({error}); correct it") from error


def load(history: str | Path, kind: str, last: Run | None = None) -> History:
    """Read the runs of one device kind from a history or a baseline; one that is not there yet has no runs.

    `last` becomes the last run, whatever its clock says; its own file, if the history has it, is left out.
    Raises ReportError where there are files and not one can be used.
    """
    last_name = last.name if last else ""
    runs: list[tuple[str, dict[str, Any]]] = []
    tables: list[pa.Table] = []
    problems: list[str] = []
    usable = 0
    for chunk in _plain_runs(history, kind) if is_baseline(history) else _parquet_runs(history, kind):
        new = []
        for name, found in chunk:
            if isinstance(found, str):
                problems.append(found)
                continue
            usable += 1
            if name != last_name:
                new.append(_numbered(found[1], len(runs)))
                runs.append((name, found[0]))
        if new:
            tables.append(pa.concat_tables(new).unify_dictionaries().combine_chunks())
    if problems and not usable:
        raise ReportError(f"{history}: not one of {len(problems)} runs can be used; the first: {problems[0]}")
    if last:
        tables.append(_numbered(_table(last).select(READ), len(runs)))
        runs.append((last_name, last.info))
    tables = tables or [_numbered(_SCHEMA.empty_table().select(READ), 0)]
    return History(_runs(runs), *_frames(pa.concat_tables(tables).unify_dictionaries()), problems)


def device_kinds(history: str | Path) -> list[str]:
    """Return the device kinds of which a history or a baseline keeps runs."""
    if is_baseline(history):
        return sorted({file.parts[-3] for file in Path(history).glob("*/*/run.json")})
    files, root = _file_system(history)
    try:
        found = files.glob(f"{root}/*/*.parquet")
    except OSError as error:
        raise ReportError(f"{history}: cannot be listed: {error.strerror or error}; check the path") from error
    return sorted({str(name).split("/")[-2] for name in found})


def _file_system(history: str | Path) -> tuple[Any, str]:
    try:
        files, root = fsspec.core.url_to_fs(str(history))
    except (ValueError, ImportError) as error:
        raise ReportError(f"{history}: no such kind of place ({error}); give a folder or an fsspec URL") from error
    return files, str(root).rstrip("/")


def _parquet_runs(history: str | Path, kind: str) -> Iterator[list[tuple[str, Found]]]:
    """Yield name and content of the runs of a history by name, a chunk at a time."""
    with ThreadPoolExecutor() as workers:
        for files in read_files(history, kind, ".parquet"):
            names = [path.rsplit("/", 1)[-1].removesuffix(".parquet") for path in files]
            parsed = workers.map(_parse, files.values())
            yield [
                (name, f"{path}: {found}" if isinstance(found, str) else found)
                for path, name, found in zip(files, names, parsed, strict=True)
            ]


def _plain_runs(baseline: str | Path, kind: str) -> Iterator[list[tuple[str, Found]]]:
    """Yield the same of a baseline, all in one chunk."""
    found: list[tuple[str, Found]] = []
    for folder in run_folders(baseline, kind):
        try:
            run = read_run(folder)
            found.append((run.name, (run.info, _table(run).select(READ))))
        except ReportError as error:
            found.append(("", str(error)))
    yield sorted(found, key=lambda each: each[0])


def _table(run: Run) -> pa.Table:
    samples = {key: (group["seed"].tolist(), group["value"].tolist())
               for key, group in run.samples.groupby(["claim", "figure"], sort=False)}  # fmt: skip
    measurements = run.measurements.to_dict("records")
    measured = {(row["claim"], row["figure"]) for row in measurements}
    measurements += [{"claim": claim, "figure": figure, "kind": "trained"}
                     for claim, figure in samples if (claim, figure) not in measured]  # fmt: skip
    rows = run.claims.to_dict("records") + measurements
    columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in _COLUMNS}
    keys = list(zip(columns["claim"], columns["figure"], strict=True))
    columns["seed"], columns["sample"] = ([samples[key][i] if key in samples else None for key in keys] for i in (0, 1))
    arrays = [pa.array(columns[field.name], type=field.type, from_pandas=False) for field in _SCHEMA]
    described = {"schema": SCHEMA, "run": run.info}
    return pa.Table.from_arrays(arrays, schema=_SCHEMA.with_metadata({METADATA: json.dumps(described)}))


def _numbered(table: pa.Table, run: int) -> pa.Table:
    return table.append_column("run", pa.array(np.full(len(table), run, dtype=np.int32)))


def _parse(content: bytes | Exception) -> Found:
    """Return what a file says of its run, and its rows; or what is wrong with it."""
    if isinstance(content, Exception):
        return f"cannot be read: {content}; restore or delete it"
    if not content:
        return "empty; restore or delete it"
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        described = json.loads((file.schema_arrow.metadata or {}).get(METADATA, b"null"))
        if not isinstance(described, dict) or type(described.get("schema")) is not int:
            return "not a run of this suite; move it elsewhere"
        if described["schema"] > SCHEMA:
            return f"schema version {described['schema']}, this program reads {SCHEMA}; update the suite"
        info = described["run"]
        started(info)
        return (info, _with_added(file.read(columns=list(READ), use_threads=False)).select(READ))
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError, ReportError) as error:
        return f"damaged ({str(error).splitlines()[0]:.80}); restore or delete it"


def _with_added(table: pa.Table) -> pa.Table:
    for name in ADDED:
        if name not in table.column_names:
            table = table.append_column(_SCHEMA.field(name), pa.nulls(len(table), _SCHEMA.field(name).type))
    return table


def _runs(infos: list[tuple[str, dict[str, Any]]]) -> pd.DataFrame:
    rows = [
        {
            "name": name, "started": started(info), "commit": info["commit"] or "unknown", "dirty": info["dirty"],
            "partial": bool(not info["complete"] or info["selected"] or info.get("partial")),
            "seeds": info["seeds"], "first_seed": _first_seed(info),
            "numerics": str(info["environment"].get("numerics", "")), "environment": info["environment"],
        }
        for name, info in infos
    ]  # fmt: skip
    columns = ["name", "started", "commit", "dirty", "partial", "seeds", "first_seed"]
    return pd.DataFrame(rows, columns=[*columns, "numerics", "environment"])


def _first_seed(info: dict[str, Any]) -> int:
    first = info.get("options", {}).get("first_seed")
    return first if type(first) is int and first >= 0 else -1


def _frames(table: pa.Table) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Split the rows of runs into figures and samples."""
    figures = table.drop_columns(["seed", "sample"]).to_pandas()
    names = figures["figure"].cat
    figures["figure"] = (figures["figure"] if "" in names.categories else names.add_categories("")).fillna("")
    lengths = pc.fill_null(pc.list_value_length(table["sample"]), 0).to_numpy()
    samples = figures.loc[np.repeat(figures.index, lengths), ["run", "claim", "figure"]].reset_index(drop=True)
    samples["seed"] = pc.list_flatten(table["seed"]).to_numpy()
    samples["value"] = pc.list_flatten(table["sample"]).to_numpy()
    return figures, samples
