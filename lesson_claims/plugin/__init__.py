"""The pytest plugin: one line in conftest.py, `pytest_plugins = ["lesson_claims.plugin"]`, and nothing without it."""

pytest_plugins = [
    "lesson_claims.plugin.options",
    "lesson_claims.plugin.work_sharing",
    "lesson_claims.plugin.check",
    "lesson_claims.plugin.recording",
    "lesson_claims.plugin.progress",
]
