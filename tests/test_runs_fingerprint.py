"""The fingerprint of a recipe's code: what may change a number changes it, in whatever form the code is reached."""

from __future__ import annotations

import ast
import dis
import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass, replace
from modulefinder import ModuleFinder
from pathlib import Path, PurePosixPath
from types import CodeType, FrameType
from typing import Any

import pytest
import torch

from lesson_claims.runs import fingerprint
from lesson_claims.runs.fingerprint import Sources, code_of, content
from lessons import recipes
from lessons.attention import AttentionProbe
from lessons.counts import BOOSTED_COUNTS
from lessons.gradients import RecurrenceProbe
from lessons.recipes import CELLS, DETECTOR, PAGE_RUNS

RECIPE = [("course.recipe", "Recipe")]
"""The class at which each of the small lessons here begins: module and name."""

HELPER = """
FACTOR = 2.0

def double(x):
    return FACTOR * x

def stranger(x):
    return 3.0 * x

class Doubler:
    def __call__(self, x):
        return double(x)
"""
"""A module of which `double` is what the recipe needs, and the factor what is edited."""


def recipe(imports: str, value: str, class_line: str = "class Recipe:") -> str:
    """Return a module with a recipe: what it imports, and the expression that it computes."""
    return f"{imports}\n\n{class_line}\n    def run(self, seed):\n        return {{'value': {value}}}\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def digest(folder: Path, classes: Collection[tuple[str, str]] = RECIPE, **options: Any) -> str:
    """Return the digest of classes whose modules lie in a folder."""
    return Sources(path=[str(folder)], **options).code_of(classes).digest


def edited(folder: Path, name: str, old: str, new: str) -> str:
    """Return the digest after an edit of a file, which is undone."""
    file = folder / name
    before = file.read_text(encoding="utf-8")
    assert old in before, f"{name} has no {old!r}"
    file.write_text(before.replace(old, new), encoding="utf-8")
    try:
        return digest(folder)
    finally:
        file.write_text(before, encoding="utf-8")


FORMS: dict[str, dict[str, str]] = {
    "from module import function": {"recipe": recipe("from course.helper import double", "double(seed)")},
    "import under another name": {"recipe": recipe("from course.helper import double as twice", "twice(seed)")},
    "import module": {"recipe": recipe("import course.helper", "course.helper.double(seed)")},
    "import module as": {"recipe": recipe("import course.helper as h", "h.double(seed)")},
    "from package import module": {"recipe": recipe("from course import helper", "helper.double(seed)")},
    "relative import": {"recipe": recipe("from .helper import double", "double(seed)")},
    "relative import of a module": {"recipe": recipe("from . import helper", "helper.double(seed)")},
    "import inside a function": {
        "recipe": recipe("def inner(x):\n    from course.helper import double\n    return double(x)", "inner(seed)")
    },
    "import_module with a text": {
        "recipe": recipe("from importlib import import_module", "import_module('course.helper').double(seed)")
    },
    "import_module with a relative text": {
        "recipe": recipe("import importlib", "importlib.import_module('.helper', __package__).double(seed)")
    },
    "import_module with a computed text": {
        "recipe": recipe("import importlib", "importlib.import_module('course.' + 'help' + 'er').double(seed)")
    },
    "import_module under another name": {
        "recipe": recipe(
            "from importlib import import_module as load\nNAME = 'course.helper'", "load(NAME).double(seed)"
        )
    },
    "__import__": {"recipe": recipe("", "__import__('course.helper').helper.double(seed)")},
    "through the package": {
        "__init__": "from course.helper import double",
        "recipe": recipe("from course import double", "double(seed)"),
    },
    "through the package, by a star": {
        "__init__": "from course.helper import *",
        "recipe": recipe("import course", "course.double(seed)"),
    },
    "through a package that imports lazily": {
        "__init__": "import importlib\nHOME = {'double': 'course.helper'}\n"
        "def __getattr__(name):\n    return getattr(importlib.import_module(HOME[name]), name)\n",
        "recipe": recipe("from course import double", "double(seed)"),
    },
    "star import": {"recipe": recipe("from course.helper import *", "double(seed)")},
    "conditional import": {
        "recipe": recipe(
            "try:\n    from nowhere import double\nexcept ImportError:\n    from course.helper import double",
            "double(seed)",
        )
    },
    "method of an object": {"recipe": recipe("from course.helper import Doubler", "Doubler()(seed)")},
    "constant": {"recipe": recipe("from course.helper import FACTOR", "seed * FACTOR")},
    "constant made of another": {"recipe": recipe("from course.helper import FACTOR\nTWICE = 2 * FACTOR", "TWICE")},
    "default of an argument": {
        "recipe": recipe("from course.helper import double\ndef f(x, g=double):\n    return g(x)", "f(seed)")
    },
    "table of functions": {
        "recipe": recipe("from course.helper import double\nTABLE = {'double': double}", "TABLE['double'](seed)")
    },
    "decorator of the class": {
        "recipe": recipe("from course.helper import double", "seed", "@double\nclass Recipe:"),
    },
    "base class elsewhere": {
        "base": "from course.helper import double\nclass Base:\n    def value(self, x):\n        return double(x)\n",
        "recipe": recipe("from course.base import Base", "self.value(seed)", "class Recipe(Base):"),
    },
    "annotation of a field": {  # a library may make objects by it
        "recipe": "from course.helper import Doubler\nclass Recipe:\n    field: Doubler\n",
    },
    "annotation of a field, in quotes": {
        "recipe": "from course.helper import Doubler\nclass Recipe:\n    field: 'list[Doubler]'\n",
    },
    "nested class": {
        "recipe": "from course.helper import double\nclass Recipe:\n    class Inner:\n        value = double(1)\n",
    },
    "module handed on": {
        "apply": "def apply(module, x):\n    return [f(x) for n, f in sorted(module.items()) if n > 'a']\n",
        "recipe": recipe("import course.helper\nfrom course.apply import apply", "apply(course.helper, seed)"),
    },
    "getattr with a text": {"recipe": recipe("from course import helper", "getattr(helper, 'double')(seed)")},
    "getattr with a computed name": {"recipe": recipe("import course.helper as h", "getattr(h, 'dou' + 'ble')(seed)")},
    "vars of a module": {"recipe": recipe("from course import helper", "vars(helper)['double'](seed)")},
    "globals": {"recipe": recipe("from course.helper import double", "globals()['dou' + 'ble'](seed)")},
    "eval": {"recipe": recipe("from course.helper import double", "eval('dou' + 'ble')(seed)")},
    "sys.modules": {
        "recipe": recipe("import sys, course.helper", "getattr(sys.modules['course.helper'], 'dou' + 'ble')(seed)")
    },
    "name bound twice": {
        "recipe": recipe("from course.helper import double\nf = abs\nf = double", "f(seed)"),
    },
    "name bound by a pattern": {
        "recipe": recipe("import course.helper as h\nmatch [h.double]:\n    case [f]:\n        pass", "f(seed)"),
    },
    "name bound in a loop": {
        "recipe": recipe("from course.helper import double\nfor f in [double]:\n    pass", "f(seed)"),
    },
    "registered by a decorator": {
        "registry": "FUNCTIONS = {}\ndef register(f):\n    FUNCTIONS[f.__name__] = f\n    return f\n",
        "models": "from course.registry import register\nfrom course.helper import double\n"
        "@register\ndef model(x):\n    return double(x)\n",
        "recipe": recipe(
            "import course.models\nfrom course.registry import FUNCTIONS", "FUNCTIONS['mod' + 'el'](seed)"
        ),
    },
    "registered by a call": {
        "registry": "FUNCTIONS = {}\n",
        "models": "from course.registry import FUNCTIONS\nfrom course.helper import double\n"
        "FUNCTIONS.update(model=double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import FUNCTIONS", "list(FUNCTIONS.values())"),
    },
    "registered by an item": {
        "registry": "FUNCTIONS = {}\n",
        "models": "from course.registry import FUNCTIONS\nfrom course.helper import double\nFUNCTIONS['m'] = double\n",
        "recipe": recipe("import course.models\nfrom course.registry import FUNCTIONS", "list(FUNCTIONS.values())"),
    },
    "registered by what an assignment calls": {
        "registry": "FUNCTIONS = []\ndef register(f):\n    FUNCTIONS.append(f)\n    return f\n",
        "models": "from course.registry import register\nfrom course.helper import double\nmodel = register(double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import FUNCTIONS", "FUNCTIONS[0](seed)"),
    },
    "registered by making an object": {
        "registry": "ALL = []\nclass Model:\n    def __init__(self, f):\n        ALL.append(f)\n",
        "models": "from course.registry import Model\nfrom course.helper import double\nmodel = Model(double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered by making an object, under another name": {
        "registry": "ALL = []\nclass Model:\n    def __init__(self, f):\n        ALL.append(f)\n",
        "models": "from course.registry import Model as M\nfrom course.helper import double\nmodel = M(double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered from a table": {
        "registry": "ALL = []\ndef add(f):\n    ALL.append(f)\nTABLE = {'add': add}\n",
        "models": "from course.registry import TABLE\nfrom course.helper import double\nmodel = TABLE['add'](double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered by map": {
        "registry": "ALL = []\n",
        "models": "from course.registry import ALL\nfrom course.helper import double\n"
        "models = list(map(ALL.append, [double]))\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered by a function named like a harmless one": {
        "registry": "ALL = []\ndef field(f):\n    ALL.append(f)\n    return f\n",
        "models": "from course.registry import field\nfrom course.helper import double\nmodel = field(double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered by making an object of a derived class": {
        "registry": "ALL = []\nclass Model:\n    def __init__(self, f):\n        ALL.append(f)\n",
        "models": "from course.registry import Model\nfrom course.helper import double\n"
        "class Special(Model):\n    pass\nmodel = Special(double)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0](seed)"),
    },
    "registered by being derived": {
        "registry": "ALL = {}\nclass Model:\n    def __init_subclass__(cls):\n        ALL[cls.__name__] = cls\n",
        "models": "from course.registry import Model\nfrom course.helper import double\n"
        "class Special(Model):\n    def value(self, x):\n        return double(x)\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL['Spe' + 'cial']().value(seed)"),
    },
    "found among the subclasses": {
        "base": "class Model:\n    pass\n",
        "models": "from course.base import Model\nfrom course.helper import double\n"
        "class Special(Model):\n    def value(self, x):\n        return double(x)\n",
        "recipe": recipe("import course.models\nfrom course.base import Model", "Model.__subclasses__()[0]()"),
    },
    "made by a metaclass": {
        "registry": "ALL = []\nclass Meta(type):\n    def __init__(cls, *a):\n        ALL.append(cls)\n",
        "models": "from course.registry import Meta\nfrom course.helper import double\n"
        "class Special(metaclass=Meta):\n    value = double\n",
        "recipe": recipe("import course.models\nfrom course.registry import ALL", "ALL[0].value(seed)"),
    },
    "a function replaced from elsewhere": {
        "models": "import course.base\nfrom course.helper import double\ncourse.base.function = double\n",
        "base": "def function(x):\n    return x\n",
        "recipe": recipe("import course.models\nfrom course.base import function", "function(seed)"),
    },
    "a setting of a library": {
        "settings": "import torch\nfrom course.helper import FACTOR\ntorch.backends.cudnn.benchmark = FACTOR > 1\n",
        "recipe": recipe("import course.settings", "seed"),
    },
    "a setting of a library, kept": {
        "settings": "import numpy\nfrom course.helper import FACTOR\nbefore = numpy.seterr(all=FACTOR)\n",
        "recipe": recipe("from course import settings as _", "seed"),
    },
    "a setting in the package": {
        "__init__": "import torch\nfrom course.helper import FACTOR\ntorch.set_num_threads(FACTOR)\n",
        "recipe": recipe("", "seed"),
    },
    "a setting in a function that is called": {
        "__init__": "import torch\nfrom course.helper import FACTOR\n"
        "def main():\n    torch.set_num_threads(FACTOR)\nmain()\n",
        "recipe": recipe("", "seed"),
    },
    "what a class does when it is defined": {
        "settings": "import torch\nfrom course.helper import FACTOR\nclass S:\n    torch.set_num_threads(FACTOR)\n",
        "recipe": recipe("import course.settings", "seed"),
    },
}
"""Ways in which a recipe reaches `double`, each with the modules of its package."""


@pytest.mark.parametrize("form", FORMS)
def test_an_edit_of_what_is_reached_is_seen(tmp_path: Path, form: str) -> None:
    files = {"course/__init__.py": "", "course/helper.py": HELPER, "course/elsewhere.py": HELPER}
    folder = write(tmp_path, files | {f"course/{name}.py": text for name, text in FORMS[form].items()})
    assert edited(folder, "course/helper.py", "2.0", "2.5") != digest(folder)


@pytest.mark.parametrize(
    "form",
    [
        *("from module import function", "import under another name", "import module", "import module as"),
        *("from package import module", "relative import", "import inside a function", "through the package"),
        *("star import", "conditional import", "method of an object", "constant", "base class elsewhere"),
        *("registered by a decorator", "registered by being derived", "a setting in the package"),
    ],
)
def test_an_edit_of_what_is_not_reached_is_not_seen(tmp_path: Path, form: str) -> None:
    files = {"course/__init__.py": "", "course/helper.py": HELPER, "course/elsewhere.py": HELPER}
    folder = write(tmp_path, files | {f"course/{name}.py": text for name, text in FORMS[form].items()})
    assert edited(folder, "course/helper.py", "3.0", "3.5") == digest(folder)
    assert edited(folder, "course/elsewhere.py", "2.0", "2.5") == digest(folder)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import double", "import stranger as double"),
        ("course.helper", "course.elsewhere"),
        ("double(seed)", "double(-seed)"),
    ],
)
def test_an_edit_of_how_it_is_reached_is_seen(tmp_path: Path, old: str, new: str) -> None:
    text = recipe(
        "from course.helper import double\nfrom course.elsewhere import stranger", "double(seed) - stranger(0)"
    )
    files = {"course/helper.py": HELPER, "course/elsewhere.py": HELPER, "course/recipe.py": text}
    folder = write(tmp_path, files)
    assert edited(folder, "course/recipe.py", old, new) != digest(folder)


@pytest.mark.parametrize("other", ["from course.elsewhere import double", "double = abs"])
def test_the_order_of_what_binds_one_name_is_seen(tmp_path: Path, other: str) -> None:
    lines = ["from course.helper import double", other]
    files = {"course/helper.py": HELPER, "course/elsewhere.py": HELPER}
    digests = set()
    for imports in (lines, lines[::-1]):
        digests.add(digest(write(tmp_path, files | {"course/recipe.py": recipe("\n".join(imports), "double(seed)")})))
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return FACTOR * x", "return FACTOR * x  # twice"),
        ("def double(x):\n", 'def double(x):\n    """Double."""\n'),
        ("def double(x):", "def double(x: float) -> float:"),
        ("FACTOR = 2.0", "\n\nFACTOR = 2.0\n'''By how much.'''\n"),
        ("FACTOR = 2.0", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nowhere\nFACTOR = 2.0"),
        ("def stranger", "def another():\n    pass\n\ndef stranger"),
    ],
)
def test_what_changes_no_number_is_not_seen(tmp_path: Path, old: str, new: str) -> None:
    files = {"course/helper.py": HELPER, "course/recipe.py": FORMS["from module import function"]["recipe"]}
    folder = write(tmp_path, files)
    assert edited(folder, "course/helper.py", old, new) == digest(folder)


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("open('rows.csv').read()", "course/rows.csv"),
        ("open('course/rows.csv').read()", "course/rows.csv"),
        ("open('data/rows.csv').read()", "data/rows.csv"),
        ("Path(__file__).with_name('rows.csv').read_text()", "course/rows.csv"),
        ("(Path(__file__).parent / 'data' / 'rows.csv').read_text()", "course/data/rows.csv"),
        ("Path(__file__).parent.joinpath('data', 'rows.csv').read_text()", "course/data/rows.csv"),
        ("(Path(__file__).parents[1] / 'data/rows.csv').read_text()", "data/rows.csv"),
        ("(Path(__file__).parent / 'data' / f'row{seed}.csv').read_text()", "course/data/more/rows.csv"),
        ("open(f'data/{seed}.csv').read()", "data/rows.csv"),
        ("[p.read_text() for p in Path(__file__).parent.glob('*.csv')]", "course/rows.csv"),
        ("(importlib.resources.files('course') / 'rows.csv').read_text()", "course/rows.csv"),
        ("(importlib.resources.files('course.data') / 'rows.csv').read_text()", "course/data/rows.csv"),
        ("ROWS.read_text()", "course/data/rows.csv"),
    ],
)
def test_the_content_of_a_file_that_code_names_counts(tmp_path: Path, named: str, file: str) -> None:
    imports = "import importlib.resources\nfrom pathlib import Path\nDATA = Path(__file__).parent / 'data'\n"
    lesson = recipe(imports + "ROWS = DATA / 'rows.csv'\n", named)
    folder = write(tmp_path, {"course/__init__.py": "", "course/recipe.py": lesson, file: "1,2", "other/rows.csv": "1"})
    assert edited(folder, file, "1,2", "1,23") != digest(folder)
    assert edited(folder, "other/rows.csv", "1", "12") == digest(folder)


def test_a_file_is_looked_for_up_to_the_project_s_folder(tmp_path: Path) -> None:
    lesson = recipe("", "open('data/rows.csv').read()")
    files = {"src/course/recipe.py": lesson, "data/rows.csv": "1,2", "pyproject.toml": ""}
    folder = write(tmp_path / "project", files)
    before = digest(folder / "src")
    write(tmp_path, {"data/rows.csv": "beside the project"})
    assert digest(folder / "src") == before
    write(folder, {"data/rows.csv": "1,23"})
    assert digest(folder / "src") != before


LESSON_WITH_FIELDS = """
from __future__ import annotations
import enum
from dataclasses import dataclass, field
from pathlib import Path

class Way(enum.StrEnum):
    UP = "up"
    def step(self):
        return 1.0

@dataclass(frozen=True)
class Model:
    size: int = 1
    def build(self):
        return helper(self.size)

@dataclass(frozen=True)
class Other:
    size: int = 1

def helper(x):
    return 2.0 * x

@dataclass(frozen=True)
class Recipe:
    model: object
    note: object = field(default=None, compare=False)
    def run(self, seed):
        return self.model.build()
"""


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that writes a module of a lesson, imports it anew and returns it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = "lesson_with_fields"

    def imported(old: str = "", new: str = "") -> Any:
        assert old in LESSON_WITH_FIELDS
        write(tmp_path, {f"{name}.py": LESSON_WITH_FIELDS.replace(old, new) if old else LESSON_WITH_FIELDS})
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield imported
    sys.modules.pop(name, None)


def test_what_the_fields_of_a_recipe_hold_decides_what_counts(lesson: Any) -> None:
    def code(model: str, old: str = "", new: str = "") -> str:
        module = lesson(old, new)
        return code_of(module.Recipe(getattr(module, model)())).digest

    assert code("Model") != code("Other")
    assert code("Model", "2.0", "2.5") != code("Model")
    assert code("Other", "2.0", "2.5") == code("Other")


def test_a_field_that_does_not_compare_decides_nothing(lesson: Any) -> None:
    module = lesson()
    assert code_of(module.Recipe(1, module.Model())) == code_of(module.Recipe(1, module.Other()))


def test_an_enumeration_in_a_recipe_counts(lesson: Any) -> None:
    def code(old: str = "", new: str = "") -> str:
        module = lesson(old, new)
        return code_of(module.Recipe((module.Way.UP,))).digest

    assert code("1.0", "1.5") != code()


@pytest.mark.parametrize("as_text", [True, False])
def test_the_content_of_a_file_that_a_recipe_names_counts(tmp_path: Path, lesson: Any, as_text: bool) -> None:
    digests = set()
    for rows in ("1,2", "1,23"):
        write(tmp_path, {"rows.csv": rows})
        digests.add(code_of(lesson().Recipe("rows.csv" if as_text else Path("rows.csv"))).digest)
    assert len(digests) == 2


def test_the_content_of_a_recipe_holds_its_paths() -> None:
    @dataclass(frozen=True)
    class Holding:
        rows: PurePosixPath
        sizes: tuple[int, ...]
        by_name: dict[str, float]
        folder: Path = field(default=Path("here"), compare=False)

    found = content(Holding(PurePosixPath("data/rows.csv"), (1, 2), {"a": 0.5}))
    name = found.pop("is")
    assert name.endswith("Holding")
    assert found == {"rows": "data/rows.csv", "sizes": [1, 2], "by_name": {"a": 0.5}}


def test_what_has_no_plain_form_is_refused() -> None:
    with pytest.raises(TypeError, match="neither a number"):
        content(object())


def test_a_class_without_a_source_is_refused() -> None:
    made = make_dataclass("Made", ["size"], frozen=True)
    made.__module__ = "types"  # as Python 3.11 has it
    with pytest.raises(TypeError, match=r"types\.Made: its source is not there; define the class in a module"):
        code_of(made(1))


def test_a_class_inside_a_function_counts_with_its_module(tmp_path: Path) -> None:
    folder = write(tmp_path, {"course/recipe.py": "ELSEWHERE = 1\n\ndef made():\n    class Recipe:\n        pass\n"})
    before = digest(folder, [("course.recipe", "made.<locals>.Recipe")])
    write(tmp_path, {"course/recipe.py": "ELSEWHERE = 2\n"})
    assert digest(folder, [("course.recipe", "made.<locals>.Recipe")]) != before


def test_an_installed_package_counts_where_it_is_declared(tmp_path: Path) -> None:
    files = {"course/recipe.py": FORMS["import module"]["recipe"].replace("course.helper", "toolbox.helper")}
    folder = write(tmp_path, files)
    installed = write(tmp_path / "site-packages", {"toolbox/__init__.py": "", "toolbox/helper.py": HELPER})

    def code(*declared: str) -> fingerprint.Code:
        return Sources(declared, [str(folder), str(installed)]).code_of(RECIPE)

    library, own = code(), code("toolbox")
    assert library.libraries == {"toolbox": "unknown"}
    assert own.libraries == {}
    write(installed, {"toolbox/helper.py": HELPER.replace("2.0", "2.5")})
    assert code() == library
    assert code("toolbox").digest != own.digest


def test_what_is_imported_and_not_there_is_a_library(tmp_path: Path) -> None:
    folder = write(tmp_path, {"course/recipe.py": recipe("import nowhere.at_all", "nowhere.at_all.f(seed)")})
    assert Sources(path=[str(folder)]).code_of(RECIPE).libraries["nowhere"] == "absent"


def test_libraries_are_those_of_the_code_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, lstm = code_of(PAGE_RUNS["week07 day 1, counts"]), code_of(CELLS["lstm"])
    assert counts.libraries["sklearn"] == importlib.metadata.version("scikit-learn")
    assert "sklearn" not in lstm.libraries
    assert lstm.libraries["torch"] == importlib.metadata.version("torch")
    assert hash(lstm) != hash(counts)


def test_a_library_that_is_imported_and_not_used_is_one(tmp_path: Path) -> None:
    """It may be imported for what importing it does."""
    imports = "import numpy\nfrom scipy import stats\ndef elsewhere():\n    return stats.norm\n"
    folder = write(tmp_path, {"course/recipe.py": recipe(imports, "seed")})
    assert set(Sources(path=[str(folder)]).code_of(RECIPE).libraries) == {"numpy"}


def test_the_engine_is_a_library(tmp_path: Path) -> None:
    folder = write(tmp_path, {"course/recipe.py": recipe("from lesson_claims import Outcome", "Outcome(a=seed)")})
    assert set(Sources(path=[str(folder)]).code_of(RECIPE).libraries) == {"lesson_claims"}


def test_the_same_code_has_the_same_digest_in_every_place_and_process(tmp_path: Path) -> None:
    command = (
        "from lesson_claims.runs.fingerprint import Sources\n"
        f"print(Sources(path=['.']).code_of([{('lessons.recipes', 'Classification')}]).digest)"
    )
    digests = set()
    for place, seed in (("here", "1"), ("somewhere/else", "2")):
        folder = tmp_path / place
        shutil.copytree(Path(recipes.__file__).parent, folder / "lessons")
        root = Path(fingerprint.__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", command],
            cwd=folder,
            env={"PYTHONPATH": str(root), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 1


def test_every_recipe_of_the_pages_has_plain_content_and_a_digest() -> None:
    for each in PAGE_RUNS.values():
        assert isinstance(content(each), dict)
        assert len(code_of(each).digest) == 16
    assert code_of(CELLS["lstm"]) != code_of(DETECTOR)


# Every line of the lessons. What a run executes is found out by making it, with a tiny budget.

LESSONS = Path(recipes.__file__).parent
TINY: dict[str, float] = dict.fromkeys(("training_rows", "validation_rows", "rows"), 8)
TINY |= {"epochs": 1, "batch_size": 600, "steps": 3, "text": 3, "bad_batch": 1, "clip": 1e-6}  # clipping must act


def tiny(value: Any) -> Any:
    """Return a recipe with a small budget."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {each.name: tiny(getattr(value, each.name)) for each in fields(value)}
    return replace(value, **{name: TINY[name] if name in TINY and part else part for name, part in parts.items()})


def all_recipes() -> Iterator[Any]:
    """Yield every recipe that a module of the lessons holds, and two that checks make; all of them tiny."""
    yield from (RecurrenceProbe(0.8, "tanh", steps=3), AttentionProbe(lengths=(5, 10)))
    for file in sorted(LESSONS.glob("*.py")):
        for value in vars(importlib.import_module(f"lessons.{file.stem}")).values():
            for each in value.values() if isinstance(value, dict) else [value]:
                is_recipe = is_dataclass(each) and hasattr(each, "run") and not isinstance(each, type)
                if is_recipe and each != BOOSTED_COUNTS:  # slow, and another in the library's part alone
                    yield tiny(each)


def classes_of(value: Any) -> set[tuple[str, str]]:
    """Return the module and the name of each class in a recipe."""
    if not is_dataclass(value):
        return set()
    inside = [classes_of(getattr(value, each.name)) for each in fields(value)]
    return {(type(value).__module__, type(value).__qualname__)}.union(*inside)


def executed(recipe: Any) -> set[CodeType]:
    """Make a run, and return the code of all functions of the lessons that it calls."""
    codes: set[CodeType] = set()

    def called(frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_filename.startswith(str(LESSONS)):
            codes.add(frame.f_code)

    before, threads = sys.gettrace(), torch.get_num_threads()
    torch.set_num_threads(1)
    sys.settrace(called)
    try:
        recipe.run(0, torch.device("cpu"))
    finally:
        sys.settrace(before)
        torch.set_num_threads(threads)
    return codes


class Lessons:
    """The lessons' code, and what of it a run depends on: what it executes, and what that reads when it is compiled."""

    def __init__(self) -> None:
        self.files = {f"lessons.{file.stem}": file for file in sorted(LESSONS.glob("*.py"))}
        self.trees = {name: ast.parse(file.read_bytes()) for name, file in self.files.items()}
        self.pieces: dict[tuple[str, str], list[ast.AST]] = {}
        self.origins: dict[tuple[str, str], str] = {}
        self.functions = {
            (module, node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])): node
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
        }
        for module, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    values = [each.value for each in node.body if isinstance(each, ast.AnnAssign) and each.value]
                    self.pieces[module, node.name] = [*node.decorator_list, *node.bases, *values]
                elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value:
                    (target,) = node.targets if isinstance(node, ast.Assign) else [node.target]
                    self.pieces[module, target.id] = [node.value]
                elif isinstance(node, ast.ImportFrom) and str(node.module) in self.trees:
                    for alias in node.names:
                        self.pieces[module, alias.name] = [alias]
                        self.origins[module, alias.name] = str(node.module)

    def of(self, recipe: Any) -> set[tuple[str, ast.AST]]:
        """Return the pieces of code on which a run depends, each with its module."""
        found: set[tuple[str, ast.AST]] = set()
        names = classes_of(recipe)
        for code in executed(recipe):
            module = f"lessons.{Path(code.co_filename).stem}"
            names |= {(module, each.argval) for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}
            if (module, code.co_name, code.co_firstlineno) in self.functions:
                found.add((module, self.functions[module, code.co_name, code.co_firstlineno]))
        pending = list(names)
        while pending:
            module, name = pending.pop()
            if (module, name) in self.origins:
                pending.append((self.origins[module, name], name))
            for piece in self.pieces.get((module, name), ()):
                if (module, piece) not in found:
                    found.add((module, piece))
                    pending += [(module, each.id) for each in ast.walk(piece) if isinstance(each, ast.Name)]
        return found

    def edits(self, module: str, piece: ast.AST) -> dict[int, bytes]:
        """Return an edit for each line of a piece of code: the line's number and what stands there then."""
        lines = self.files[module].read_bytes().splitlines()
        edits: dict[int, bytes] = {}
        nodes = list(counting(piece))
        for node in nodes:
            word = getattr(node, "id", getattr(node, "arg", getattr(node, "name", getattr(node, "attr", None))))
            number = getattr(node, "end_lineno", 0)
            line = lines[number - 1]
            if isinstance(node, (ast.Name, ast.arg, ast.alias)):
                start = node.col_offset
            elif isinstance(node, ast.Attribute):
                start = (node.end_col_offset or 0) - len(node.attr)
            elif isinstance(node, ast.Constant) and line[node.col_offset : node.col_offset + 1] in (b"'", b'"'):
                word, start = "", node.col_offset + 1
            elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                word, start = "", node.col_offset
            else:
                continue
            if line[start:].startswith(str(word).encode()):
                edit = b"1" if line[start : start + 1].isdigit() else b"x"
                edits.setdefault(number, line[:start] + edit + line[start:])
        for node in nodes:
            if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef):
                line = lines[node.lineno - 1]
                indented = line[: len(line) - len(line.lstrip())]
                edits.setdefault(node.lineno, indented + b"edited = 0\n" + line)
        return edits


def counting(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of code, but docstrings and annotations."""
    yield node
    for name, value in ast.iter_fields(node):
        for inner in value if isinstance(value, list) else [value]:
            is_docstring = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)
            if isinstance(inner, ast.AST) and name not in ("annotation", "returns") and not is_docstring:
                yield from counting(inner)


@pytest.fixture
def few_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few strings for the detector, whose recipes cannot ask for fewer."""
    monkeypatch.setattr("lessons.detector.ROWS", 30)
    monkeypatch.setattr("lessons.detector.TRAINING_ROWS", 20)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(LESSONS, tmp_path_factory.mktemp("copied") / "lessons"))


def test_an_edit_of_any_line_that_a_run_of_the_lessons_reaches_is_seen(copied: Path, few_strings: None) -> None:
    lessons = Lessons()
    pieces: dict[tuple[str, ast.AST], set[tuple[tuple[str, str], ...]]] = {}
    for each in dict.fromkeys(all_recipes()):
        for piece in lessons.of(each):
            pieces.setdefault(piece, set()).add(tuple(sorted(classes_of(each))))
    reaching = {
        (module, number, edit): groups
        for (module, piece), groups in pieces.items()
        for number, edit in lessons.edits(module, piece).items()
    }
    before = {group: digest(copied.parent, group) for group in set().union(*pieces.values())}
    assert len({module for module, _, _ in reaching}) > 15
    assert len(reaching) > 600
    for (module, number, edit), groups in reaching.items():
        file = copied / lessons.files[module].name
        original = file.read_bytes()
        lines = original.splitlines()
        lines[number - 1] = edit
        file.write_bytes(b"\n".join(lines))
        group = sorted(groups)[number % len(groups)]  # each in its turn
        assert digest(copied.parent, group) != before[group], f"{module}, line {number}: {edit.decode()}"
        file.write_bytes(original)


def test_an_edit_of_a_module_is_seen_if_and_only_if_it_can_be_imported(copied: Path) -> None:
    groups = {tuple(sorted(classes_of(each))) for each in all_recipes()}
    before = {group: digest(copied.parent, group) for group in groups}
    imported: dict[tuple[tuple[str, str], ...], set[str]] = {}
    for group in groups:
        finder = ModuleFinder([str(copied.parent)])
        for module, _ in group:
            finder.import_hook(module)
        imported[group] = {Path(str(each.__file__)).name for each in finder.modules.values()}
    for file in sorted(copied.glob("*.py")):
        original = file.read_bytes()
        file.write_bytes(original + b"\nprint('imported')\n")
        sources = Sources(path=[str(copied.parent)])
        for group in groups:
            seen = sources.code_of(group).digest != before[group]
            assert seen is (file.name in imported[group]), f"{file.name} for {group}"
        file.write_bytes(original)


def test_a_recipe_made_in_a_function_is_refused_because_its_name_says_too_little() -> None:
    @dataclass(frozen=True)
    class Made:
        rate: float = 1.0

    with pytest.raises(TypeError, match="define it at the top of its module"):
        code_of(Made())
