"""About how long a survey takes, from what stands on its pages: a rule of thumb, not a finding."""

from __future__ import annotations

from annotation.instruments.flow import Step
from annotation.instruments.step_content import (
    FreeTextContent,
    MatrixContent,
    PageContent,
    PracticeContent,
    QuestionContent,
    RankingContent,
)
from annotation.instruments.step_kinds import CHECKS_AFTER_RATING, RATING_PAGES, StepKind
from annotation.instruments.step_texts import text_in
from annotation.models import Instrument

# Silent reading of English: Brysbaert (2019), 238 words a minute; a participant skims no faster.
WORDS_A_MINUTE = 238
# A rating line, a question, a written answer, in seconds: what such pages usually take.
LINE_SECONDS, QUESTION_SECONDS, TEXT_SECONDS, CHECK_SECONDS = 5.0, 6.0, 40.0, 12.0


def estimate_minutes(instrument: Instrument, steps: tuple[Step, ...]) -> float:
    """Return the minutes that the steps of an instrument may take in its language. Three queries.

    Steps with a condition count in full.
    """
    texts = dict(
        instrument.wordings.filter(language=instrument.language).values_list("key", "text")
    )
    lines, questions = instrument.scales.count(), instrument.questions.count()
    seconds = 0.0
    for step in steps:
        if step.kind in RATING_PAGES:
            seconds += lines * LINE_SECONDS
        elif step.kind in CHECKS_AFTER_RATING:
            seconds += CHECK_SECONDS
        elif step.kind == StepKind.DEMOGRAPHICS:
            seconds += questions * QUESTION_SECONDS
        elif step.kind in {StepKind.CONSENT, StepKind.INSTRUCTIONS, StepKind.DEBRIEF}:
            seconds += _reading(texts.get(f"{step.kind.value}_body", ""))
        else:
            seconds += _content_seconds(step, instrument.language)
    return seconds / 60


def _content_seconds(step: Step, language: str) -> float:
    content = step.content
    if isinstance(content, PageContent):
        return _reading(text_in(content.body, language))
    if isinstance(content, PracticeContent):
        return _reading(text_in(content.lead, language)) + len(content.lines) * LINE_SECONDS
    if isinstance(content, FreeTextContent):
        return _reading(text_in(content.question, language)) + TEXT_SECONDS
    if isinstance(content, MatrixContent | RankingContent):
        n = len(content.rows if isinstance(content, MatrixContent) else content.items)
        return _reading(text_in(content.question, language)) + n * QUESTION_SECONDS
    if isinstance(content, QuestionContent):
        return _reading(text_in(content.question, language)) + QUESTION_SECONDS
    return 0.0


def _reading(text: str) -> float:
    return 60 * len(text.split()) / WORDS_A_MINUTE
