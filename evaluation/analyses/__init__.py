"""Analyses: from ratings and scores to estimates with their uncertainty."""
