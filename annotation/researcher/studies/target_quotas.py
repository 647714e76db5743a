"""The page on which target quotas are set: percentages for each demographic question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.target_margins import OTHERS, Margin, Margins
from annotation.instruments.flow import FlowError, parse_flow
from annotation.instruments.versions import current_instrument
from annotation.models import DemographicQuestion, Origin, QuestionKind, Study, StudyStatus
from annotation.researcher.pages.fields import TextField, WholeNumberField
from annotation.researcher.pages.study_page import StudyFormPage
from annotation.studies.lifecycle import lock_study
from annotation.studies.target_quotas import (
    find_margin_faults,
    find_screening_faults,
    list_cell_names,
)

# --- Sets the target margins of a study, and whether people are chosen by them


@transaction.atomic
def set_margins(
    *, study: Study, margins: Margins, samples: bool = False, planned_people: int | None = None
) -> Study:
    """Store the targets of a study; ``samples``: people are chosen by them from now on.

    Raises `ValidationError` for targets that the newest version's questions cannot reach, for
    choosing without targets or a number of people, and, once a study has begun, for choosing
    where the questions come too late. Nothing is stored then.
    """
    study = lock_study(study)
    if problems := find_problems(study, margins, samples=samples, planned_people=planned_people):
        raise ValidationError(problems)
    study.target_margins = {
        slug: margin.model_dump(mode="json") for slug, margin in margins.items()
    }
    study.samples_by_margins = samples
    study.planned_people = planned_people
    study.full_clean()
    study.save(update_fields=["target_margins", "samples_by_margins", "planned_people"])
    return study


def find_problems(
    study: Study, margins: Margins, *, samples: bool, planned_people: int | None
) -> list[str]:
    """Return what keeps these targets from being set, one sentence each."""
    instrument = current_instrument(study)
    questions = instrument.questions.all() if instrument else []
    problems = [fault.text for fault in find_margin_faults(margins, questions)]
    if not samples:
        return problems
    if not margins:
        problems.append(_("People can be chosen by targets alone: give at least one."))
    if planned_people is None:
        problems.append(_("Say how many people are planned: places are shares of that number."))
    # A draft is examined before its launch; a study that has begun would let people through.
    if study.status != StudyStatus.DRAFT and instrument is not None:
        try:
            steps = parse_flow(instrument.flow)
        except FlowError as error:
            return [*problems, str(error)]
        problems += [fault.text for fault in find_screening_faults(steps)]
    return problems


# --- The page

STARTS = re.compile(r"-?\d{1,6}(\s*,\s*-?\d{1,6})*")
MOST_BANDS = 30


class TargetForm(forms.Form):
    """Targets by question, and whether people are chosen by them."""

    samples = forms.BooleanField(
        label=gettext_lazy("Choose people by their answers"),
        required=False,
        help_text=gettext_lazy(
            "The demographic questions come before the first rating page. Anyone whose answer has "
            "no place left is thanked and leaves, paid as the panel’s settings say. People who "
            "prefer not to say can take part."
        ),
    )
    planned_people = WholeNumberField(
        label=gettext_lazy("Planned participants"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=gettext_lazy("Places are shares of this number, rounded to add up to it."),
    )

    def __init__(
        self, study: Study, questions: Sequence[DemographicQuestion], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.questions = [q for q in questions if q.kind != QuestionKind.TEXT]
        self.stored = study.margins
        self.initial = {
            "samples": study.samples_by_margins,
            "planned_people": study.planned_people,
        }
        for question in self.questions:
            self._add_fields(question)

    def _add_fields(self, question: DemographicQuestion) -> None:
        stored = self.stored.get(question.slug)
        if question.kind == QuestionKind.NUMBER:
            self.fields[_starts(question)] = TextField(
                label=_("Bands of “%(question)s” begin at") % {"question": question.label},
                required=False,
                max_length=200,
                help_text=_(
                    "Whole numbers in rising order, such as 18, 25, 35, 45. Empty for no target."
                ),
            )
            if stored:
                self.initial[_starts(question)] = ", ".join(map(str, stored.starts))
        for index, name in enumerate(self.cells_of(question)):
            field = _share(question, index)
            self.fields[field] = forms.DecimalField(
                label=_("Share of “%(answer)s”") % {"answer": _label(name)},
                required=False,
                min_value=0,
                max_value=100,
                decimal_places=2,
                widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
            )
            if stored and name in stored.shares:
                self.initial[field] = _percent(stored.shares[name])

    def cells_of(self, question: DemographicQuestion) -> tuple[str, ...]:
        """Return the answers of a question that have a line, with the bands as they are sent."""
        names = list_cell_names(question, self.read_starts(question) or ())
        return (*names, OTHERS) if names else ()

    def read_starts(self, question: DemographicQuestion) -> tuple[int, ...] | None:
        """Return the starts of bands as they are sent or stored; None if they cannot be read."""
        stored = self.stored.get(question.slug)
        if not self.is_bound:
            return stored.starts if stored else ()
        text = str(self.data.get(_starts(question), "")).strip()
        if not text:
            return ()
        starts = tuple(map(int, text.split(","))) if STARTS.fullmatch(text) else None
        if starts is None or len(starts) > MOST_BANDS or list(starts) != sorted(set(starts)):
            return None
        return starts

    @property
    def tables(self) -> list[dict[str, Any]]:
        """Return the questions as the page shows them: bands, and answers with shares."""
        return [
            {
                "question": question,
                "starts": self[_starts(question)] if _starts(question) in self.fields else None,
                "shares": [
                    (_label(name), self[_share(question, index)])
                    for index, name in enumerate(self.cells_of(question))
                ],
                "takes_several": question.kind == QuestionKind.CHOICES,
                "is_open": question.slug in self.stored or self.is_bound,
            }
            for question in self.questions
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        margins: dict[str, Margin] = {}
        for question in self.questions:
            starts = self.read_starts(question)
            if starts is None:
                self.add_error(
                    _starts(question),
                    _("Enter whole numbers in rising order, such as 18, 25, 35, 45."),
                )
                continue
            shares = {
                name: float(share / 100)
                for index, name in enumerate(self.cells_of(question))
                if (share := cleaned.get(_share(question, index))) is not None
            }
            if shares:
                margins[question.slug] = Margin(starts=starts, shares=shares)
            elif starts:
                self.add_error(
                    _starts(question), _("Give each band its share. Nothing is stored yet.")
                )
        cleaned["margins"] = margins
        if not self.errors:
            problems = find_problems(
                self.study,
                margins,
                samples=cleaned["samples"],
                planned_people=cleaned.get("planned_people"),
            )
            if problems:
                raise forms.ValidationError(problems)
        return cleaned


def _label(cell: str) -> str:
    return _("All others") if cell == OTHERS else cell


def _starts(question: DemographicQuestion) -> str:
    return f"starts-{question.slug}"


def _share(question: DemographicQuestion, index: int) -> str:
    return f"share-{question.slug}-{index}"


def _percent(share: float) -> Decimal:
    """Return a stored share as it was typed: 0.333 is 33.3."""
    return (Decimal(str(share)) * 100).normalize() + 0


class TargetPage(StudyFormPage):
    route = "<int:pk>/margins/"
    name = tab = "margins"
    folder = "study"
    stored = gettext_lazy("The targets are stored.")

    def build_form(self, data: Any) -> TargetForm:
        instrument = current_instrument(self.study)
        if self.study.origin == Origin.IMPORTED or instrument is None:
            raise Http404
        return TargetForm(self.study, list(instrument.questions.all()), data)

    def store(self, form: TargetForm) -> None:
        options = ("margins", "samples", "planned_people")
        set_margins(study=self.study, **{name: form.cleaned_data[name] for name in options})
