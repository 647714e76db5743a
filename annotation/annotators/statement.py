"""What researchers record of a study's annotators for its data statement.

Bender and Friedman (2018) ask who annotated, how they were trained and what they were paid. It may
be recorded at any time, also after the study is closed: none of it changes the work.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.annotators.forms import clean_text
from annotation.models import AnnotatorStatement, Study
from annotation.studies.lifecycle import lock_study

STATEMENT_PARTS = {
    "recruitment": gettext_lazy("Recruitment"),
    "background": gettext_lazy("Background"),
    "training": gettext_lazy("Training"),
    "pay": gettext_lazy("Pay"),
}
LONGEST_PART = 3000  # characters


def find_statement(study: Study) -> AnnotatorStatement:
    """Return what is recorded; an empty statement, not stored, where nothing is. One query."""
    return AnnotatorStatement.objects.filter(study=study).first() or AnnotatorStatement(study=study)


@transaction.atomic
def record_statement(*, study: Study, **parts: str) -> AnnotatorStatement:
    """Record parts of a study's statement: recruitment, background, training, pay.

    Parts that are not given stay as they are. Saying the same again adds nothing to the history.
    Raises `ValueError` for a part that is none, `ValidationError` for one that is too long.
    """
    statement = find_statement(lock_study(study))
    before = {name: getattr(statement, name) for name in STATEMENT_PARTS}
    now = before | {name: clean_text(text) for name, text in parts.items()}
    if unknown := set(parts) - set(STATEMENT_PARTS):
        raise ValueError(f"A statement has no part {', '.join(sorted(unknown))}.")
    for name, text in now.items():
        if len(text) > LONGEST_PART:
            raise ValidationError(
                {
                    name: _("%(n)s characters, expected at most %(most)s.")
                    % {"n": f"{len(text):,}", "most": f"{LONGEST_PART:,}"}
                }
            )
    if now != before:
        for name, text in now.items():
            setattr(statement, name, text)
        statement.full_clean(validate_unique=False)
        statement.save()
    return statement
