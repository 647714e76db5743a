"""Tables that reports on guises share: effects with the interval and p of one question."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.analyses.guise_inference import CrossedLine
from evaluation.reports.parts.formatting import listing
from evaluation.reports.parts.table import Column, ReportTable

WHY_CROSSED = (
    "The same texts are read in the same prompts, so that single values are no independent "
    "samples. With six prompts or more, both are taken as samples of more of their kind: the "
    "interval is for other texts and other wordings. With fewer it is for other texts in these "
    "prompts. The shares say what single values vary with; where the prompt has a large one, a "
    "result hangs on the wording."
)
FEW_PROMPTS = (
    "With fewer than six prompts intervals are for other texts in these prompts, not for other "
    "wordings."
)
METHOD_OVER_TEXTS = (
    "Intervals, and the p beside them, come from one Student’s t: for texts and prompts like these "
    "with six prompts or more, both as crossed samples, with fewer for other texts in these "
    "prompts. They need texts in pairs."
)
METHOD_CROSSED = (
    "Interval and p of a row answer one question, which it names, and come from the same Student’s "
    "t. Prompts like these (six prompts or more): the variance of the mean has a part of the "
    "prompts, which is never dropped, and one of the texts, not below zero; degrees of freedom "
    "after Satterthwaite, at least the number of prompts less one. These prompts (fewer than six): "
    "a t-test of the texts’ means over the prompts. Runs on the same texts are averaged. The "
    "interval is that of p; p (Holm) is corrected over the attributes of a model, or over models "
    "where each has one effect; δ of a study is not corrected. Shares of variance are by "
    "restricted maximum likelihood, which has a closed form in a table without gaps (Searle, "
    "Casella and McCulloch 1992)."
)


def p_columns(*, value: str = "p_value", holm: bool = True) -> tuple[Column, ...]:
    """Return the question of every row with its p and that of Holm."""
    corrected = (Column.p("p (Holm)", "p_holm"),) if holm else ()
    return (
        Column("For", "question", meaning="question that interval and p answer"),
        Column.p("p", "p", value, meaning="two-sided, from the same t as the interval"),
        *corrected,
    )


def crossed_table(
    rows: Sequence[CrossedLine],
    level: str,
    *,
    effect: str = "q",
    part: str = "Probe",
    name: str = "Attribute",
    decimals: int = 4,
    scale: float = 1.0,
) -> ReportTable:
    """Return the table of effects; the head of the effect, its part and its name as given."""
    return ReportTable.of(
        "crossed_effects",
        "Effects with texts and prompts as samples",
        rows,
        Column("Model", "model"),
        Column(part, "part"),
        Column(name, "name"),
        Column.effect(
            effect,
            "effect",
            "estimate",
            decimals,
            scale=scale,
            meaning="mean over texts and prompts, the first guise less the second",
        ),
        Column("Texts", "n_texts", "estimate.n", 0),
        Column("Prompts", "n_prompts", decimals=0),
        *p_columns(),
        *(
            Column(
                f"{head}, %",
                f"share_{key}",
                key,
                decimals=0,
                scale=100,
                group="Varies with",
                meaning=f"share of the variance of single values: {head.lower()}",
            )
            for head, key in (("Text", "texts"), ("Wording", "prompts"), ("Rest", "rest"))
        ),
        level=level,
        reason="reason",
    )


def disagreement(what: str, found: Sequence[str]) -> tuple[str, ...]:
    """Return the banner on tests that come to different ends, naming four of them."""
    if not found:
        return ()
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    return (f"{what}: {listing(list(found[:4]))}{more}.",)
