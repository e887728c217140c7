"""The one error that this package raises for bad input."""


class ReportError(Exception):
    """Bad input or an unusable place; the message is one line: where, what, and what to do about it."""
