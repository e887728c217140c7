"""The year in docs/nights.md: what it shows is what the commands print."""

import reports_year


def test_the_year_in_the_docs_is_what_the_commands_print():
    """`python tests/reports_year.py` puts a new text into the docs."""
    told = reports_year.told()
    assert [block.splitlines()[-1] for block in told] == [
        f"(exit status {status})" for status in (3, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 4)
    ]
    assert reports_year.in_the_docs() == told
