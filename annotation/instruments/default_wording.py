"""The texts of an instrument that a study's author may rewrite, with their defaults.

``{group}`` stands for the group's plural form, or for the words of ``speaker`` where texts are
rated; ``{low}`` and ``{high}`` in the question for the words at the left and at the right ends of
all lines. The question and the instruction about groups follow Cao et al. (2022), section 4 and
Figure A2: people rate how a group is seen, not what they themselves think of it. Of the person
behind a text people give their own first impression, as in the matched guise technique of Lambert
et al. (1960), and are told only afterwards that texts were written in several varieties.
"""

from __future__ import annotations

from collections.abc import Mapping

from annotation.models import StudyKind

DEFAULT_WORDING: dict[str, str] = {
    "consent_title": "Before you start",
    "consent_body": (
        "This study asks how groups of people are seen in America. You will rate groups on lines "
        "between two words.\n\n"
        "Taking part is voluntary. You can stop on any page.\n\n"
        "Some of the words are unkind. They are stereotypes that we study, not facts about anyone."
    ),
    "consent_agree": "I am at least 18 years old, I have read this, and I agree to take part.",
    "instructions_title": "How it works",
    "instructions_body": (
        "On each of the following pages you see one group and a list of word pairs. Mark where on "
        "the line between two words people in America would put that group.\n\n"
        "We are not interested in your personal beliefs, but in how you think people in America "
        "view these groups.\n\n"
        "You cannot go back to a page that you have sent."
    ),
    "question": "How do people in America view {group}?",
    "question_lead": (
        "Place each line’s marker where you think most people would put this group. We are not "
        "asking for your own view."
    ),
    "debrief_title": "What this was about",
    "debrief_body": (
        "We compare how people believe that groups are seen in America with what language models "
        "write about the same groups. The words are stereotypes, not facts about anyone."
    ),
}

GUISE_WORDING: dict[str, str] = {
    **DEFAULT_WORDING,
    "consent_body": (
        "This study asks what impression people get of somebody from a few written words. You will "
        "read short texts, each by another person, and rate that person on lines between two "
        "words.\n\n"
        "Taking part is voluntary. You can stop on any page.\n\n"
        "Some of the words are unkind. They are first impressions that we study, not facts about "
        "anyone."
    ),
    "instructions_body": (
        "On each of the following pages you see a short text and a list of word pairs. Somebody "
        "wrote that text: mark where on the line between two words you would put that person.\n\n"
        "We are interested in your own first impression. There are no right answers.\n\n"
        "You cannot go back to a page that you have sent."
    ),
    "text_label": "Somebody wrote this",
    "speaker": "the person who wrote this",
    "question": "What is {group} like?",
    "question_lead": (
        "Go by your first impression of the person, not by what the text is about. There are no "
        "right answers."
    ),
    "debrief_body": (
        "The texts were written in different varieties of English, and many of them exist in more "
        "than one. We compare what people believe about the writers of either variety, and what "
        "language models do. Every variety is a full language with rules of its own: what people "
        "believe about its speakers says nothing about them."
    ),
}


def default_wording(kind: str) -> Mapping[str, str]:
    """Return the texts of a kind of study by key, in English."""
    return GUISE_WORDING if kind == StudyKind.GUISE_RATING else DEFAULT_WORDING
