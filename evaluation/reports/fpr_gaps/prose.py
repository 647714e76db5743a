"""The words of the report on one classifier's false positive rates."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.fpr_gaps import FprGaps
from evaluation.reports.parts.formatting import count

WHY = {
    "negative": "Above zero, sentences that are neutral or positive are called negative more often "
    "when this group is named.",
    "positive": "Below zero, sentences that are neutral or negative are called positive less often "
    "when this group is named.",
}
WHY_WORDS = (
    "A group is as many words as a lexicon gives it. Where its words differ, the gap may be theirs."
)
WHY_SPANS = "How far the groups lie apart, beside words that name no group."
WHY_MENTION = (
    "If naming an unusual group surprises a model and errors follow, gaps rise with the surprisal "
    "of the mention. The adjusted gap is what is left."
)


def question(result: FprGaps, record: dict[str, Any]) -> str:
    own, roles = result.result, list(record["roles"].values())
    placebos = roles.count("placebo")
    beside = f", beside {count(placebos, 'placebo word')}" if placebos else ""
    return (
        f"The same {own.n_templates or own.n_sentences} sentences with one word changed: false "
        f"positive rates of {own.model} for {count(roles.count('group'), 'group')} in "
        f"{count(own.n_runs, 'run')}{beside}."
    )
