"""Kohankhaki et al., The Impact of Unstated Norms in Bias Analysis of Language Models."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.analyses.fpr_comparison import MeanGap, average_spans
from evaluation.reproductions.items import Item, MissingSourceError, Paper, Sources, Value

ORIGIN = "github.com/VectorInstitute/UnstatedNormsAndLLMBias (gap_and_other_analysis/stats_files)"
SETS = ("amazon", "ns_prompts", "regard")
SIDES = ("negative", "positive")
#: Mean and standard deviation over the runs.
ACCURACY = {
    "RoBERTa-125M": (0.635, 0.036),
    "RoBERTa-355M": (0.624, 0.027),
    "OPT-125M": (0.687, 0.080),
    "OPT-350M": (0.692, 0.039),
    "OPT-1.3B": (0.739, 0.020),
    "OPT-6.7B": (0.737, 0.014),
    "Llama-2-7B": (0.513, 0.089),
    "Llama-2-13B": (0.647, 0.006),
    "Llama-3-8B": (0.822, 0.035),
    "Mistral-7B": (0.740, 0.005),
}
#: Mean span of the gaps in negative and in positive false positive rates.
SPANS = {
    "Llama-2-13B": (0.207, 0.143),
    "RoBERTa-355M": (0.198, 0.154),
    "Llama-2-7B": (0.144, 0.133),
    "RoBERTa-125M": (0.126, 0.152),
    "OPT-350M": (0.118, 0.132),
    "OPT-1.3B": (0.104, 0.128),
    "OPT-6.7B": (0.081, 0.089),
    "OPT-13B": (0.056, 0.144),
    "OPT-125M": (0.039, 0.136),
    "Mistral-7B": (0.032, 0.141),
    "Llama-3-8B": (0.020, 0.089),
}
PREDICTIONS = (
    "manage.py import_predictions PREDICTIONS.tsv --data-set amazon --producer Llama-3-8B",
    "manage.py report fpr_gaps --run RUN",
)
DRAWN = "The figure prints no numbers. Table 4 compares the spans of the same gaps."


def _accuracies(sources: Sources) -> Iterator[Value]:
    """Table 3, from reports on imported predictions of the paper's models."""
    found: dict[str, dict[str, float]] = {}
    for report in sources.reports("fpr_gaps", model__name__in=ACCURACY):
        result = (report.result or {})["result"]  # final ones have one
        found.setdefault(result["model"], result["accuracy"])
    if not found:
        raise MissingSourceError(
            "There is no report on gaps of these models. Import the released predictions, with the "
            "model's name as the paper prints it, and build the report."
        )
    for model, (mean, sd) in ACCURACY.items():
        ours = found.get(model, {})
        reason = "" if ours else "Some models have no report."
        yield Value(f"accuracy of {model}", mean, ours.get("mean"), reason=reason)
        yield Value(f"its SD over runs, {model}", sd, ours.get("sd"), reason=reason)


def _spans(sources: Sources) -> Iterator[Value]:
    """Table 4, from the released tables of gaps."""
    gaps = [
        MeanGap(row["model"], name, side, row["group"], float(row[f"{side}_FPR_gap"]))
        for name in SETS
        for row in sources.rows(f"{name}_gaps.csv", ORIGIN)
        for side in SIDES
    ]
    ours = {(span.model, span.side): span.average for span in average_spans(gaps)}
    for model, published in SPANS.items():
        for side, value in zip(SIDES, published, strict=True):
            yield Value(f"mean {side} span, {model}", value, ours.get((model, side)))


PAPER = Paper(
    "kohankhaki",
    "Kohankhaki et al.: The Impact of Unstated Norms in Bias Analysis of Language Models",
    (
        Item("table-1", "Settings of fine-tuning", is_text=True, reason="Settings, no results."),
        Item(
            "table-2",
            "Accuracy of prompted models",
            reason="It needs OPT-6.7B, Llama-2-7B, Llama-3-8B, and Mistral-7B, sampled at "
            "temperature 0.8.",
            commands=("manage.py probe --measure prompted_classification --model MODEL",),
        ),
        Item("table-3", "Accuracy of fine-tuned models", _accuracies, commands=PREDICTIONS),
        Item("table-4", "Span of gaps, mean of three sets of sentences", _spans),
        Item("figure-1", "Gaps on Amazon", reason=DRAWN, commands=PREDICTIONS),
        Item("figure-2", "Gaps on NS-Prompts", reason=DRAWN, commands=PREDICTIONS),
        Item("figure-3", "Gaps on Regard", reason=DRAWN, commands=PREDICTIONS),
        Item(
            "figure-4",
            "Gaps of prompted models on Amazon",
            reason="The figure prints no numbers.",
        ),
    ),
)
