"""What the lessons claim, and what decides whether a claim holds."""
