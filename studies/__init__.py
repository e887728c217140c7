"""What proves a number in the docs: speed as ratios measured in one go, error rates, years of made-up nights."""
