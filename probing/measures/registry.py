"""Every measure by its name. Adding a measure is adding its file and its line here."""

from __future__ import annotations

from annotation.common.lazy import LazyRegistry
from probing.measures.base import AnyMeasure

MEASURES: LazyRegistry[AnyMeasure] = LazyRegistry(
    "probing.measures",
    {
        "ilps": "ilps.Ilps",
        "ilps_star": "ilps.IlpsStar",
        "set": "sensitivity.SensitivityTest",
        "ceat": "ceat.Ceat",
        "direct_rating": "direct_rating.DirectRating",
        "counterpart_generation": "counterpart_generation.CounterpartGeneration",
        "span_prediction": "span_prediction.SpanPrediction",
        "matched_guise": "matched_guise.MatchedGuise",
        "perplexity": "perplexity.Perplexity",
        "fine_tuning": "fine_tuning.FineTuning",
        "classification": "classification.Classification",
        "classifier_fine_tuning": "classifier_fine_tuning.ClassifierFineTuning",
        "prompted_classification": "prompted_classification.PromptedClassification",
        "label_likelihood": "prompted_classification.LabelLikelihood",
        "mention_surprisal": "mention_surprisal.MentionSurprisal",
    },
)


class UnknownMeasureError(LookupError):
    """There is no measure of that name; the message lists those that exist."""


def get_measure(name: str) -> AnyMeasure:
    """Return the measure `name`; :class:`UnknownMeasureError` where there is none."""
    try:
        return MEASURES[name]
    except KeyError:
        raise UnknownMeasureError(
            f"There is no measure '{name}'. Choose one of: {', '.join(MEASURES)}."
        ) from None
