"""Fixtures that several modules of tests share; a module that uses them has `pytest_plugins = ["pytester"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from plugin_project import Project, forget_the_checks


@pytest.fixture(scope="module")
def _compiled_modules_stay() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("_pytest.pytester.SysModulesSnapshot.restore", forget_the_checks)
        yield


@pytest.fixture
def project(_compiled_modules_stay: None, pytester: pytest.Pytester) -> Project:
    """Return a small project of its own, in a temporary folder."""
    return Project(pytester)
