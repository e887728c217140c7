"""What the words of a report mean, in one place for the page and its Markdown."""

VERDICTS = {
    "holds": "The evidence bears what the page says.",
    "refuted": "The page says more than the evidence bears; a correction follows.",
    "inconclusive": "Too few seeds to decide; the evidence says how many are needed.",
    "error": "The check itself failed, so nothing is known about the claim.",
    "not run": "Left out of this run, or lost.",
}
COUNTED = {
    "holds": "hold",
    "refuted": "refuted",
    "inconclusive": "inconclusive",
    "error": "in error",
    "not run": "not run",
}
AGREEMENTS = {
    "reproduced": "Equal to the printed figure at its printed digits.",
    "within": "Not equal there, but inside the stated tolerance or the interval expected of a single seed.",
    "outside": "Neither: the printed figure could not be reproduced.",
    "not printed": "Measured here; the page prints no such figure.",
    "not measured": "The page prints it, and this run did not measure it.",
}
AGREEMENTS_COUNTED = {
    "reproduced": "reproduced to the last digit",
    "within": "within tolerance",
    "outside": "outside tolerance",
    "not printed": "more measured, which no page prints",
    "not measured": "printed, but not measured",
}
SIGNS = {"reproduced": "=", "within": "≈", "outside": "≠", "not printed": "·", "not measured": "?"}
EMOJI = {"holds": "✅", "refuted": "🔶", "inconclusive": "🔺", "error": "🟥", "not run": "⚪"}
