"""Files of a report directory: written all or none, and JSON that is read strictly."""

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lesson_claims.results.errors import ReportError

AGAIN = "run the suite again"


def write_files(path: Path, texts: Mapping[str, str]) -> None:
    """Write each text as a file of directory `path`: all under temporary names first, then renamed in order.

    Raises ReportError, with no temporary file left behind, and nothing renamed where a directory is in the way.
    """
    refuse_directories(path, texts)
    staged = {path / name: path / f".{name}.{os.getpid()}.tmp" for name in texts}
    try:
        path.mkdir(parents=True, exist_ok=True)
        for (_, temporary), text in zip(staged.items(), texts.values(), strict=True):
            with temporary.open("wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
                os.fsync(file.fileno())  # some file systems report a full disk no earlier
        for final, temporary in staged.items():
            temporary.replace(final)
    except OSError as error:
        _remove(staged.values())
        reason = error.strerror or str(error)
        advice = "make room or name another directory"
        raise ReportError(f"{path}: cannot write the report: {reason}; {advice}") from error
    except BaseException:
        _remove(staged.values())
        raise


def refuse_directories(path: Path, names: Iterable[str]) -> None:
    """Raise ReportError if one of the files to be written into `path` has the name of a directory there."""
    for file in (path / name for name in names):
        if file.is_dir() and not file.is_symlink():
            raise ReportError(f"{file}: is a directory, where a file has to go; move it or name another place")


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError:  # the directory itself is unusable, and the first error already says so
            return


def json_text(content: Any) -> str:
    """Return `content` as the text of a JSON file: strict, indented, with a line end."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(file: Path, advice: str = AGAIN) -> Any:
    """Return the content of a file of strict JSON, without NaN.

    Raises FileNotFoundError, or, in one line that ends with `advice`, ReportError where it cannot be read.
    """
    try:
        return msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ReportError(f"{file}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{file}: not valid JSON ({error}); {advice}") from error


def schema_of(content: Any, where: str, known: range) -> int:
    """Return the schema version of a JSON object from the file `where`.

    Raises ReportError where it is no object, or of a version that is not `known`.
    """
    if not isinstance(content, Mapping):
        raise ReportError(f"{where}: expected an object, found {type(content).__name__}; {AGAIN}")
    schema = content.get("schema")
    if type(schema) is not int or schema not in known:
        versions = " and ".join(map(str, known))
        raise ReportError(
            f"{where}: schema version {schema!r:.60}, but this program reads {versions};"
            " use the version of lesson-claims that wrote it"
        )
    return schema


def checked(content: Any, form: type[msgspec.Struct], where: str, advice: str = AGAIN) -> dict[str, Any]:
    """Return a JSON object that fits `form`, with the defaults of fields that it lacks; other fields stay.

    Raises ReportError, in one line that says which field is wrong.
    """
    try:
        fields = msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        raise ReportError(f"{where}: {error}; {advice}") from error
    return {**msgspec.to_builtins(fields), **content}


def plain(value: Any) -> Any:
    """Copy a JSON-like value; numbers that strict JSON cannot hold become their text, and so do other objects."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(float(value))
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
