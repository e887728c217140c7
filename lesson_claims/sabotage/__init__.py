"""Runs the checks of claims while the code under them is sabotaged, and says whether they noticed."""
