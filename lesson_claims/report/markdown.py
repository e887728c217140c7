"""Any text as harmless Markdown: nothing in it can start markup, HTML or a new table cell, but `code` stays code."""

import re

LONGEST = 300

_CODE = re.compile(r"((?<!`)`(?! )[^`|\\<>&{}]*[^ `|\\<>&{}]`(?!`))")
"""A span of code, of characters that mean nothing in it, neither to Markdown nor to a table."""

_MARKUP = re.compile(r"([\\`*{}\[\]#|~$@]|(?<![^\W_])_|_(?![^\W_]))")
"""What may be markup anywhere; of underscores, those that are not inside a word."""

_AT_THE_START = re.compile(r"^(?=[-+=>:%!]|\([^)]*\)=)|^(\d+)(?=[.)](?:\s|$))")
"""What may be markup as the first thing on a line: lists, quotes, rules, and MyST's comments and targets."""


def line(text: str, longest: int = LONGEST) -> str:
    """Return `text` on one line, cut to `longest` characters, with what Markdown may read as markup escaped."""
    text = re.sub(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]+", " ", text).strip()
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    parts = _CODE.split(text)  # text and code in turn
    parts[::2] = [_escaped(part) for part in parts[::2]]
    return _AT_THE_START.sub(r"\1\\", "".join(parts))


def paragraph(text: str) -> str:
    """Return `text` as one paragraph of any length."""
    return line(text, len(text) + 1)


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\1", text)
    text = re.sub(r"(?i)((?:https?|ftp|mailto|xmpp)):", r"\1\\:", text)  # no link
    text = re.sub(r"(?i)www\.", r"www\\.", text)
    return text.replace("&", "&amp;").replace("<", "&lt;")
