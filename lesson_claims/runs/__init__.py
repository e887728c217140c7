"""Training runs: what a recipe is, the store that keeps runs, evidence over seeds, and what a run depends on."""
