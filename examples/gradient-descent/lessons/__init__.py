"""The code of the page, as functions and recipes that the checks can call."""
