"""Checks the claims of the lessons with the engine's pytest plugin."""

pytest_plugins = ["lesson_claims.plugin"]
