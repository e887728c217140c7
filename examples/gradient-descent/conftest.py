"""Checks the page's claims with the plugin of lesson-claims."""

pytest_plugins = ["lesson_claims.plugin"]
