"""Every measure by its name. Adding a measure is adding its file and its line here."""

from __future__ import annotations

from probing.measures.base import AnyMeasure
from probing.measures.ceat import Ceat
from probing.measures.classification import Classification
from probing.measures.classifier_fine_tuning import ClassifierFineTuning
from probing.measures.counterpart_generation import CounterpartGeneration
from probing.measures.direct_rating import DirectRating
from probing.measures.fine_tuning import FineTuning
from probing.measures.ilps import Ilps, IlpsStar
from probing.measures.matched_guise import MatchedGuise
from probing.measures.mention_surprisal import MentionSurprisal
from probing.measures.perplexity import Perplexity
from probing.measures.prompted_classification import LabelLikelihood, PromptedClassification
from probing.measures.sensitivity import SensitivityTest
from probing.measures.span_prediction import SpanPrediction

MEASURES: dict[str, AnyMeasure] = {
    "ilps": Ilps(),
    "ilps_star": IlpsStar(),
    "set": SensitivityTest(),
    "ceat": Ceat(),
    "direct_rating": DirectRating(),
    "counterpart_generation": CounterpartGeneration(),
    "span_prediction": SpanPrediction(),
    "matched_guise": MatchedGuise(),
    "perplexity": Perplexity(),
    "fine_tuning": FineTuning(),
    "classification": Classification(),
    "classifier_fine_tuning": ClassifierFineTuning(),
    "prompted_classification": PromptedClassification(),
    "label_likelihood": LabelLikelihood(),
    "mention_surprisal": MentionSurprisal(),
}


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
