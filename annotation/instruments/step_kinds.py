"""The kinds of steps that a survey's flow can have, and what sets them apart."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class StepKind(TextChoices):
    CONSENT = "consent", _("Consent")
    INSTRUCTIONS = "instructions", _("Instructions")
    PAGE = "page", _("Page to read")
    PRACTICE = "practice", _("Practice page")
    RATING = "rating", _("Rating page")
    GROUP_NAME = "group_name", _("Check: name the group just rated")
    MARKED_TRAITS = "marked_traits", _("Check: one trait high, one trait low")
    TYPED_TRAITS = "typed_traits", _("Check: type one trait marked high, one marked low")
    REPEAT = "repeat", _("Rating page of a repeated group")
    INSTRUCTED = "instructed", _("Check: an answer that the text asks for")
    NONSENSICAL = "nonsensical", _("Check: a statement that nobody can affirm")
    COMPREHENSION = "comprehension", _("Check: a question about the instructions")
    CHOICE = "choice", _("Question with answers to choose from")
    FREE_TEXT = "free_text", _("Question with a text as its answer")
    SLIDER = "slider", _("Question with a line between two words")
    NUMBER = "number", _("Question with a number as its answer")
    MATRIX = "matrix", _("Statements on the same points")
    RANKING = "ranking", _("Question that asks for an order")
    DEMOGRAPHICS = "demographics", _("Demographic questions")
    DEBRIEF = "debrief", _("What the study was about")


# May stand in a flow once.
ONCE = frozenset(
    {
        StepKind.CONSENT,
        StepKind.INSTRUCTIONS,
        StepKind.REPEAT,
        StepKind.DEMOGRAPHICS,
        StepKind.DEBRIEF,
    }
)
# Each has a group of its own.
RATING_PAGES = frozenset({StepKind.RATING, StepKind.REPEAT})
# Ask for the rating page that they follow.
CHECKS_AFTER_RATING = frozenset(
    {StepKind.GROUP_NAME, StepKind.MARKED_TRAITS, StepKind.TYPED_TRAITS}
)
# Store whether they were passed.
CHECK_STEPS = frozenset(
    {
        *CHECKS_AFTER_RATING,
        StepKind.REPEAT,
        StepKind.INSTRUCTED,
        StepKind.NONSENSICAL,
        StepKind.COMPREHENSION,
    }
)
# Store what was answered, under the step's key.
ANSWER_STEPS = frozenset(
    {
        StepKind.CHOICE,
        StepKind.FREE_TEXT,
        StepKind.SLIDER,
        StepKind.NUMBER,
        StepKind.MATRIX,
        StepKind.RANKING,
    }
)
# Their answer is one number, which a condition can compare with limits.
NUMBER_STEPS = frozenset({StepKind.SLIDER, StepKind.NUMBER})
# Always asked: groups are given at the start, and a group that is never rated would hold a place.
UNCONDITIONAL = frozenset({StepKind.CONSENT, *RATING_PAGES})
