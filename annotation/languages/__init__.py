"""Languages of instruments: their codes, their texts, and files that bring them in."""
