"""What was measured: tables of a run, histories of runs, corrected verdicts. Knows no other part of the engine."""
