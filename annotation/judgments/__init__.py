"""Judging counterparts: items, assignment, wording, the judges' pages, ratings."""
