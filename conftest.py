"""Loads the suite's pytest plugin: options, fixtures, recording."""

pytest_plugins = [
    "claims.plugin.options",
    "claims.plugin.sharing",
    "claims.plugin.check",
    "claims.plugin.recording",
    "claims.plugin.progress",
]
