"""The texts of an instrument that a study's author may rewrite, with their defaults.

``{group}`` stands for the group's plural form, ``{low}`` and ``{high}`` in the question for the
words at the left and at the right ends of all lines. The question and the instruction follow Cao et
al. (2022), section 4 and Figure A2: people rate how a group is seen, not what they themselves think
of it.
"""

from __future__ import annotations

DEFAULT_WORDING: dict[str, str] = {
    "consent_title": "Before you start",
    "consent_body": (
        "This study asks how groups of people are seen in America. You will rate several groups "
        "on lines between two words, answer a few short checks, and tell us a little about "
        "yourself if you like.\n\n"
        "Taking part is voluntary. You can stop on any page, and you can have your answers erased "
        "afterwards with your own link.\n\n"
        "Some of the words are unkind. They are stereotypes that we study, not facts about anyone."
    ),
    "consent_agree": "I am at least 18 years old, I have read this, and I agree to take part.",
    "instructions_title": "How it works",
    "instructions_body": (
        "On each of the following pages you see one group and a list of word pairs. Mark where on "
        "the line between two words people in America would put that group.\n\n"
        "We are not interested in your personal beliefs, but in how you think people in America "
        "view these groups.\n\n"
        "There are short checks in between. You cannot go back to a page that you have sent."
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
