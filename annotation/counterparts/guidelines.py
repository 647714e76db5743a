"""The guidelines that a new study begins with: Deas et al. (2023), appendix C.1, in other words."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

DEFAULT_GUIDELINES = (
    "Write out alternative spellings, such as “should’ve” for “shoulda”.",
    "Keep user names, hashtags and web addresses as they are.",
    "Leave emojis alone, unless speakers of the other variety would use them differently.",
    "Keep swear words, and write out those that were masked.",
    "Change only what has to change. Meaning and tone stay.",
    "Where no guideline fits, trust your own judgement.",
)
MOST_GUIDELINES, LONGEST_GUIDELINE = 30, 600


def parse_guidelines(text: str) -> list[str]:
    """Return one guideline a line, blank lines left out; raises `ValidationError` where too many or
    too long."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    guidelines = [line for line in lines if line]
    if len(guidelines) > MOST_GUIDELINES:
        raise ValidationError(
            _("There are %(n)d guidelines, expected at most %(most)d: nobody keeps more in mind.")
            % {"n": len(guidelines), "most": MOST_GUIDELINES}
        )
    for number, line in enumerate(guidelines, start=1):
        if len(line) > LONGEST_GUIDELINE:
            raise ValidationError(
                _("Guideline %(number)d has %(n)d characters, expected at most %(most)d.")
                % {"number": number, "n": len(line), "most": LONGEST_GUIDELINE}
            )
    return guidelines
