"""Any text as harmless Markdown: nothing in it can start markup, HTML or a new table cell."""

import re

LONGEST = 300


def line(text: str, longest: int = LONGEST) -> str:
    """Return `text` on one line, cut to `longest` characters, with everything that Markdown reads escaped."""
    text = re.sub(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]+", " ", text).strip()
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    text = re.sub(r"([\\`*_{}\[\]()#+!|~$@:>-])", r"\\\1", text) if _risky(text) else text
    return text.replace("&", "&amp;").replace("<", "&lt;")


def paragraph(text: str) -> str:
    """Return `text` as one paragraph of any length."""
    return line(text, len(text) + 1)


def _risky(text: str) -> bool:
    return bool(re.search(r"[\\`*_{}\[\]#!|~$@<>]|^[-+=\d(]|https?:|www\.", text))
