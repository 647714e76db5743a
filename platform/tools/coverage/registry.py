"""Which rows every statistic has, and which printed interval or p-value rests on which statistic.

A report may print an interval or a p-value whose statistic has rows that hold. `PRINTED` names the
statistics of each, as “kind table column” of the download. `RANGES` are no intervals of an
estimate, `PUBLISHED` repeats the tests of papers, which reports label so, and `EMPTY` has no value
in any report. A test walks the reports of all kinds and fails for anything that is in none of
these, or in two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from tools.coverage import chance, gaps, means, observed, people, taus
from tools.coverage.rows import Row

#: Name of the file of results → designs. A module of designs is one line here.
MODULES: dict[str, Callable[[], Iterable[Row]]] = {
    "taus": taus.list_rows,
    "gaps": gaps.list_rows,
    "means": means.list_rows,
    "observed": observed.list_rows,
    "chance": chance.list_rows,
    "people": people.list_rows,
}


def _all(statistics: tuple[str, ...], *printed: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(printed, statistics)


def _columns(table: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{table} {name}" for name in names)


def _gaps(printed: str, *names: str) -> dict[str, tuple[str, ...]]:
    """Return what rests on statistics of gaps; the same tables answer for either question."""
    kinds = ("fpr_gaps", "fpr_comparison")
    return {f"{kind} {printed}": _of_gaps(*names) for kind in kinds}


def _of_gaps(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}, {question}" for name in names for question in gaps.QUESTIONS)


PRINTED: dict[str, tuple[str, ...]] = {
    **_all(
        (taus.LIKE,),
        "alignment_comparison overall generalizing_low",
        "alignment_comparison overall p_generalizing",
        "alignment_comparison overall p_generalizing_holm",
        "alignment_subgroups subgroups generalizing_low",
        "alignment_subgroups subgroups p_generalizing",
    ),
    **_all(
        (taus.THESE,),
        "alignment_comparison overall noise_free_low",
        "alignment_comparison overall p_noise_free",
        "alignment_subgroups subgroups noise_free_low",
        "alignment_subgroups subgroups p_noise_free",
    ),
    **_all(
        (taus.DIFFERENCE,),
        "alignment_comparison differences noise_free_low",
        "alignment_comparison differences p_noise_free",
    ),
    **_all(
        (taus.BETWEEN_LIKE, observed.PRECISION_DIFFERENCE),
        *_columns(
            "alignment_subgroups differences",
            "generalizing_low",
            "p_generalizing",
            "p_generalizing_holm",
        ),
    ),
    **_all(
        (observed.EXCHANGED, observed.EXCHANGED_PRECISION),
        *_columns("alignment_subgroups differences", "p_value", "p_holm"),
    ),
    **_all(
        (taus.BETWEEN,),
        *_columns("alignment_subgroups differences", "noise_free_low", "p_noise_free"),
    ),
    **_all(
        (observed.OBSERVED, taus.LIKE, taus.THESE),
        *(f"{kind} questions p_value" for kind in ("alignment", "template_selection")),
    ),
    **_all(
        (taus.DIFFERENCE_LIKE, observed.PRECISION_DIFFERENCE),
        *_columns(
            "alignment_comparison differences",
            "generalizing_low",
            "p_generalizing",
            "p_generalizing_holm",
        ),
    ),
    "alignment_comparison overall precision_generalizing_low": (observed.PRECISION_LIKE,),
    **_all(
        (observed.OBSERVED,),
        "alignment overall low",
        "alignment_comparison overall tau_low",
        "alignment_subgroups subgroups tau_low",
        "template_selection alignments low",
    ),
    **_all(
        (observed.OBSERVED_DIFFERENCE,),
        *_columns("alignment_comparison differences", "low", "p_value", "p_holm"),
    ),
    **_all(
        (observed.OBSERVED, taus.LIKE, taus.THESE),
        *(f"{kind} questions low" for kind in ("alignment", "template_selection")),
    ),
    **_all(
        (observed.OF_SCALES,),
        *(
            f"{kind} groups {column}"
            for kind in ("alignment", "alignment_comparison", "alignment_subgroups")
            for column in ("tau_low", "p_resampled", "p_resampled_holm")
        ),
        "alignment_comparison groups p_resampled_holm_table",
        *_columns("template_selection groups", "low", "p_resampled", "p_resampled_holm"),
    ),
    **_all(
        (observed.OF_SCALES,),
        *_columns("covert_overt_human pairs", "low", "p"),
        *_columns("guise_ratings models", "low", "p"),
    ),
    **_all((observed.RATING,), "alignment cells human_low", "alignment_subgroups means low"),
    "alignment cells model_low": (observed.OVER_PROMPTS,),
    **_all(
        (chance.RATIO,),
        "counterparts toxicity_against_gold low",
        "counterparts toxicity_removed low",
    ),
    "counterparts toxicity_gaps low": (chance.RATIO_DIFFERENCE,),
    "judgments error_agreement low": (chance.MARKS,),
    **_all(
        (chance.PAIRS,),
        *(
            f"intersectional {of} low"
            for of in ("domain_pairs", "order_summary", "order_summary_of_all")
        ),
    ),
    "intersectional norm_curve p_value": (chance.CURVE,),
    "intersectional norms p_value": (chance.PICKS,),
    "markedness traits low": (chance.MENTION,),
    **_all(
        (chance.RANKS,), *_columns("matched_guise agreement", "p_permutation", "p_permutation_holm")
    ),
    "matched_guise agreement p_shared": (chance.OVERLAP,),
    "matched_guise agreement strength_low": (means.PROMPTS_LIKE, means.PROMPTS_THESE),
    **_gaps("gaps low", gaps.GAPS, gaps.WORDS),
    **_gaps("gaps p_value", gaps.GAPS, gaps.WORDS),
    **_gaps("all-groups p_value", gaps.GAPS),
    **_gaps("all-groups spread_low", gaps.SPREAD),
    # The same intervals with answers that name no class counted as errors, or as correct.
    "fpr_gaps fallback errors_low": _of_gaps(gaps.GAPS),
    "fpr_gaps fallback correct_low": _of_gaps(gaps.GAPS),
    **_all(
        (means.PROMPTS_LIKE, means.PROMPTS_THESE),
        *_columns("covert_overt_human covert_tests", "low", "p"),
        *_columns("guise_controls controls", "low", "p"),
        *_columns("guise_decisions crossed_effects", "low", "p", "p_holm"),
        *_columns("guise_decisions tests", "low", "p"),
        *_columns("guise_features features", "low", "p"),
        "guise_features dose low",
        *_columns("guise_intelligence crossed_effects", "low", "p", "p_holm"),
        *_columns("guise_intelligence intelligence", "low", "p", "p_holm"),
        *(f"guise_models {of} low" for of in ("feedback", "models", "trends")),
        *_columns("guise_occupations crossed_effects", "low", "p", "p_holm"),
        *_columns("guise_occupations inference", "low", "p"),
        *_columns("guise_occupations occupations", "low", "p", "p_holm"),
        "guise_ratings model_scales low",
        *_columns("matched_guise crossed_effects", "low", "p", "p_holm"),
        *_columns("matched_guise scores", "low", "p", "p_holm"),
    ),
    "guise_controls controls difference_low": (
        *(means.PROMPTS_LIKE, means.PROMPTS_THESE, means.BETWEEN_LIKE, means.BETWEEN_THESE),
    ),
    **_all((means.MCNEMAR,), *_columns("guise_decisions tests", "p_mcnemar", "p_mcnemar_holm")),
    # Of groups and of speakers, by a model and by people.
    "covert_overt_human scales low": (
        *(observed.OVER_PROMPTS, means.PROMPTS_LIKE, means.PROMPTS_THESE),
        *(people.GROUPS, people.GUISE_DIFFERENCE),
    ),
    **_all((people.GUISE_MEAN,), *_columns("guise_ratings scales", "first_low", "second_low")),
    **_all((people.GUISE_DIFFERENCE,), *_columns("guise_ratings scales", "low", "p", "p_holm")),
    **_all(
        (people.TAU_PEOPLE,), *_columns("guise_ratings models", "these_texts_low", "p_these_texts")
    ),
    **_all(
        (people.TAU_TEXTS,), *_columns("guise_ratings models", "other_texts_low", "p_other_texts")
    ),
    **_all((means.ADJUSTED,), *_columns("guise_controls adjusted", "low", "p", "p_holm")),
    **_all(
        (means.SLOPE,),
        *_columns("counterparts feature_density", "low", "p_value", "p_corrected"),
        *_columns("judgments feature_density", "low", "p_value", "p_corrected"),
        *_columns("guise_features density", "low", "p"),
    ),
    **_all(
        (means.MEAN,),
        "counterparts means low",
        "judgments means low",
        "judgments errors low",
        "spans values low",
        *_columns("dataset sources", "source_length_low", "target_length_low", "rouge1_low"),
        *_columns("dataset sources", "source_toxicity_low", "target_toxicity_low"),
    ),
    "spans changes low": (means.CHANGE,),
    **_all(
        (means.PAIRED, means.WELCH),
        *_columns("counterparts gaps", "low", "p_value", "p_corrected"),
        *_columns("counterparts contrasts", "low", "p_value", "p_corrected"),
        *_columns("judgments gaps", "low", "p_value", "p_corrected"),
        *_columns("judgments contrasts", "low", "p_value", "p_corrected"),
        *_columns("judgments error_gaps", "low", "p_value", "p_corrected"),
        *_columns("judgments error_contrasts", "low", "p_value", "p_corrected"),
    ),
    **_all((means.PAIRED,), *_columns("dataset length_difference", "low", "p_value")),
    **_all(
        (means.WELCH,),
        *_columns("counterparts feature_gaps", "low", "p_value", "p_corrected"),
        *_columns("judgments feature_gaps", "low", "p_value", "p_corrected"),
    ),
    **_all(
        (means.ALPHA_UNITS, means.ALPHA_LIKE),
        *(f"judgments agreement{of} low" for of in ("", "_levels", "_pairs", "_sources")),
        *(f"rating_agreement {of} low" for of in ("groups", "overall", "scales")),
    ),
    **_all(
        (means.TEXTS,),
        *(f"agreement {of} low" for of in ("overall", "pairs", "sources", "not_interpretable")),
    ),
}


#: Middle shares of split halves, of random participants, or of chance, and means less one standard
#: error, which are labeled so: no interval of an estimate.
RANGES = {
    "alignment groups ceiling_low",
    "alignment_comparison overall ceiling_low",
    "alignment_subgroups subgroups random_low",
    "guise_controls placebos low",
    "guise_models sizes low",
    "intersectional norms chance_precision_low",
    "intersectional norms chance_recall_low",
    "matched_guise nulls low",
    *_columns("matched_guise variation", "low", "strength_low"),
}
#: Columns without a value, and why in the row: no interval is known to hold.
EMPTY = {
    "alignment_comparison mention low",
    *(f"markedness {of} low" for of in ("groups", "overall")),
    "intersectional norm_curve low",
    "matched_guise agreement low",
    *_columns("matched_guise favorability", "low", "weighted_low"),
}
#: Tests of papers, whose assumptions the data seldom meet: Cao et al. (2022) takes cells for
#: independent draws, Hofmann et al. (2024) decisions, prompts, and random rankings.
PUBLISHED = {
    *_columns("alignment groups", "p_value", "p_holm"),
    "alignment overall p_value",
    "alignment questions p_cells_independent",
    *_columns("alignment_comparison groups", "p_value", "p_holm", "p_holm_table"),
    *_columns("alignment_comparison overall", "p_value", "p_holm"),
    *_columns("alignment_subgroups groups", "p_value", "p_holm"),
    "alignment_subgroups subgroups p_value",
    "template_selection alignments p_value",
    *_columns("template_selection groups", "p_value", "p_holm"),
    "template_selection questions p_cells_independent",
    "guise_decisions left_out_prompts p_equal",
    *_columns("guise_decisions tests", "p_equal", "p_equal_holm"),
    *_columns("guise_decisions tests", "p_contingency", "p_contingency_holm"),
    *_columns("guise_features features", "p_paper", "p_paper_holm"),
    "guise_models feedback p",
    "guise_occupations inference p_paper",
    *_columns("guise_occupations prestige", "low", "p"),
    "guise_occupations prestige_line low",
    *_columns("guise_occupations tests", "p_one_sided", "p_two_sided", "p_holm"),
    *_columns("matched_guise agreement", "p_t", "p_t_holm"),
}


@cache
def rows_of(module: str) -> tuple[Row, ...]:
    return tuple(MODULES[module]())


def statistics() -> set[str]:
    """Return the statistics that have rows."""
    return {name for module in MODULES for row in rows_of(module) for name in row.statistics}


def is_inferential(column: str) -> bool:
    """Return whether a column of a download is the lower end of an interval, or a p-value."""
    return column == "low" or column.endswith("_low") or re.match(r"p($|_)", column) is not None
