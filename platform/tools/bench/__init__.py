"""Benchmarks: how fast the heavy parts are beside the plain way, and what intervals cover."""

#: Each is a module of this folder with `run() -> list[Row]`, imported alone: what a benchmark does
#: not use is no part of its memory. Adding one is adding a file and its name here.
BENCHMARKS = (
    "levenshtein_alpha",
    "rouge",
    "bertscore",
    "slot_measures",
    "ceat",
    "matched_guise",
    "all_pairs",
    "classification",
    "pages",
    "landing",
)
