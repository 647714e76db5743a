"""The forms that create a judgment study and that change its settings and design."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from annotation.admin.annotator_form import STUDY_FIELDS, AnnotatorStudyForm
from annotation.judgments.creation import check_producers
from annotation.judgments.items import Producer, list_producers, short_name
from annotation.judgments.wording import ASPECT_NAMES, default_wording, parse_wording
from annotation.models import ASPECTS, Corpus, JudgmentDesign, JudgmentStudy, StudyStatus

DESIGN_FIELDS = (
    "corpus",
    "runs",
    "include_human",
    "n_texts",
    "complete",
    "overlap_percent",
    "seed",
)
WORDING_FIELDS = tuple(f"{aspect}_{part}" for aspect in ASPECTS for part in ("question", "answers"))


def _question(aspect: str) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy(ASPECT_NAMES[aspect]),
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("The question. {variety} stands for the counterpart's variety."),
    )


def _answers() -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("Five answers"),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=gettext_lazy("One a line, from 1 to 5."),
    )


class JudgingForm(AnnotatorStudyForm, forms.ModelForm):
    """A study and its design; the services store both. A launched design is only shown."""

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("Pairs of its evaluation split are drawn."),
    )
    runs = forms.MultipleChoiceField(
        label=gettext_lazy("Runs whose counterparts are judged"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Finished runs of counterpart generation, by corpus. A model that was run in one "
            "direction at a time needs both of its runs."
        ),
    )
    include_human = forms.BooleanField(
        label=gettext_lazy("Judge the human counterparts too, as the baseline"),
        required=False,
        initial=True,
        widget=UnfoldBooleanSwitchWidget,
    )
    n_texts = forms.IntegerField(
        label=gettext_lazy("Number of pairs"),
        min_value=1,
        initial=100,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("How many are drawn; each is judged in both directions."),
    )
    complete = forms.BooleanField(
        label=gettext_lazy("Draw only pairs that every producer rewrote in both directions"),
        required=False,
        initial=True,
        widget=UnfoldBooleanSwitchWidget,
    )
    overlap_percent = forms.FloatField(
        label=gettext_lazy("Overlap"),
        min_value=0,
        max_value=100,
        initial=10,
        widget=UnfoldAdminDecimalFieldWidget,
        help_text=gettext_lazy(
            "Percentage of the counterparts that a second judge rates, to tell how far judges "
            "agree."
        ),
    )
    seed = forms.IntegerField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("Decides the draw and the order of queues; empty draws one."),
    )
    human_likeness_question = _question("human_likeness")
    human_likeness_answers = _answers()
    linguistic_match_question = _question("linguistic_match")
    linguistic_match_answers = _answers()
    meaning_preservation_question = _question("meaning_preservation")
    meaning_preservation_answers = _answers()
    tone_preservation_question = _question("tone_preservation")
    tone_preservation_answers = _answers()

    class Meta:
        model = JudgmentStudy
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        design = JudgmentDesign.objects.filter(study_id=self.instance.pk).first()
        self._show_wording(design.wording if design else {})
        if "runs" in self.fields:
            corpora: QuerySet[Corpus] = self.fields["corpus"].queryset  # type: ignore[attr-defined]
            choices = build_run_choices(corpora)
            self.fields["runs"].choices = choices  # type: ignore[attr-defined]
            if not choices:
                self.fields["runs"].help_text = _(
                    "No run has written counterparts of a corpus yet. Human ones can be judged "
                    "alone."
                )
        if design is None:
            return
        for name in (*DESIGN_FIELDS, *WORDING_FIELDS):
            if name in self.fields:
                self.fields[name].disabled = self.instance.status != StudyStatus.DRAFT
        for name in DESIGN_FIELDS:
            if name in self.fields:
                self.fields[name].initial = getattr(design, name)

    def _show_wording(self, stored: dict[str, Any]) -> None:
        shown = default_wording() | (stored or {})
        for aspect in ASPECTS:
            for part, value in (
                ("question", shown[aspect]["question"]),
                ("answers", "\n".join(shown[aspect]["answers"])),
            ):
                if (field := self.fields.get(f"{aspect}_{part}")) is not None:
                    field.initial = value

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.instance.pk and self.instance.status != StudyStatus.DRAFT:
            return cleaned
        self._check_wording(cleaned)
        if not {"corpus", "runs", "n_texts"} <= set(cleaned):
            return cleaned
        design = JudgmentDesign(
            corpus=cleaned["corpus"],
            runs=cleaned["runs"],
            include_human=cleaned["include_human"],
            complete=cleaned["complete"],
        )
        try:
            check_producers(design)
        except ValidationError as error:
            self.add_error(None, error)
        return cleaned

    def _check_wording(self, cleaned: dict[str, Any]) -> None:
        """Put every fault of the wording at the field in which it stands."""
        if not set(WORDING_FIELDS) <= set(cleaned):
            return
        wording = {
            aspect: {
                "question": cleaned[f"{aspect}_question"],
                "answers": [
                    line for line in cleaned[f"{aspect}_answers"].splitlines() if line.strip()
                ],
            }
            for aspect in ASPECTS
        }
        for aspect, part in wording.items():
            if (n := len(part["answers"])) != 5:
                self.add_error(
                    f"{aspect}_answers",
                    _("%(n)d answers, expected five: one a line, from 1 to 5.") % {"n": n},
                )
        if self.errors:
            return
        try:
            parse_wording(wording)
        except ValidationError as error:
            for message in error.messages:
                self.add_error(_find_field(message), message)
        cleaned["wording"] = wording

    def design_options(self) -> dict[str, Any]:
        """Return what the services take of the design; an empty seed is left to them."""
        values = {name: self.cleaned_data[name] for name in (*DESIGN_FIELDS, "wording")}
        if values["seed"] is None:
            del values["seed"]
        return values


def build_run_choices(corpora: QuerySet[Corpus]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the runs with counterparts, grouped by corpus. One query for each corpus and one."""
    groups = [
        (corpus.name, [(one.run, describe_producer(one)) for one in list_producers(corpus)])
        for corpus in corpora
    ]
    return [(name, choices) for name, choices in groups if choices]


def describe_producer(producer: Producer) -> str:
    """Return a run in words: its model, its counterparts by variety, its public id."""
    into = ", ".join(f"{n:,} {variety}" for variety, n in sorted(producer.into.items()))
    return f"{short_name(producer.model)}: {into} ({producer.run})"


def _find_field(message: str) -> str:
    """Return the field of a wording's fault, which begins with its aspect's name."""
    where, _colon, _rest = message.partition(":")
    for aspect, title in ASPECT_NAMES.items():
        if where.startswith(title):
            return f"{aspect}_{'answers' if ', answer' in where else 'question'}"
    return "title"
