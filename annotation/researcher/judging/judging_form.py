"""The forms of a judgment study, and the page of its judges."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.annotators.invitations import invite_annotator
from annotation.judgments.assignment_service import GivenAgain, give_out_again, remove_judge
from annotation.judgments.creation import check_producers
from annotation.judgments.error_coding import (
    DEFAULT_SCHEME,
    parse_scheme,
    read_scheme,
    store_scheme,
    write_scheme,
)
from annotation.judgments.progress import load_progress
from annotation.judgments.questions import (
    ASPECT_NAMES,
    Producer,
    default_wording,
    list_producers,
    parse_wording,
    short_name,
)
from annotation.models import ASPECTS, Corpus, JudgmentDesign, JudgmentStudy, StudyStatus
from annotation.researcher.judging.overview import JudgingPage, find_newcomers
from annotation.researcher.pages.annotators import STUDY_FIELDS, AnnotatorStudyForm, PeoplePage
from annotation.researcher.pages.fields import (
    NumberField,
    ParagraphField,
    SwitchField,
    TextField,
    WholeNumberField,
)
from annotation.researcher.pages.page import button

# --- The page on which judges are invited, removed and given work again


class JudgesPage(JudgingPage, PeoplePage):
    route = "<int:pk>/judges/"
    name = tab = "judges"
    invite = staticmethod(invite_annotator)
    remove = staticmethod(remove_judge)
    removed = gettext_lazy("%(who)s is removed. Judgments stay, open work went to the others.")

    def get_context_data(self) -> dict[str, Any]:
        draft = self.study.status == StudyStatus.DRAFT
        progress = load_progress(self.study)
        return {
            **super().get_context_data(),
            **self.describe_people({judge.annotator.pk: judge.open for judge in progress.judges}),
            "progress": progress,
            "newcomers": [] if draft else find_newcomers(progress),
        }

    @button("give-out")
    def share_open_work(self) -> str | None:
        given = give_out_again(study=self.study)
        for remark in explain_rest(given):
            messages.warning(self.request, remark)
        text = ngettext(
            "%(n)d counterpart has a new judge.",
            "%(n)d counterparts have a new judge.",
            given.moved,
        )
        return text % {"n": given.moved} if given.moved else None


def explain_rest(given: GivenAgain) -> list[str]:
    """Return why work was not given out, or did not move; nothing where all of it was."""
    if not given.joined:
        return [_("No judge has joined yet. Give out work once one has accepted an invitation.")]
    remarks = []
    if given.unjudgeable:
        text = ngettext(
            "%(n)d counterpart has no judge: everyone who has joined wrote or decided a "
            "counterpart of its text. Invite somebody who did not.",
            "%(n)d counterparts have no judge: everyone who has joined wrote or decided a "
            "counterpart of their texts. Invite somebody who did not.",
            given.unjudgeable,
        )
        remarks.append(text % {"n": given.unjudgeable})
    if given.missing_overlap:
        text = ngettext(
            "%(n)d second judgment cannot be given: fewer than two who have joined may judge the "
            "counterpart. Invite another judge.",
            "%(n)d second judgments cannot be given: fewer than two who have joined may judge the "
            "counterparts. Invite another judge.",
            given.missing_overlap,
        )
        remarks.append(text % {"n": given.missing_overlap})
    remarks += [
        _("%(who)s gets nothing: they wrote or decided counterparts of all texts.") % {"who": judge}
        for judge in given.idle
    ]
    if not given.moved and not remarks:
        remarks.append(
            _("Nothing moved: open work is shared as evenly as the rules allow.")
            if given.open
            else _("Nothing is open: all counterparts have been judged.")
        )
    return remarks


# --- Forms

WORDING_FIELDS = tuple(f"{aspect}_{part}" for aspect in ASPECTS for part in ("question", "answers"))


def _question(aspect: str) -> forms.CharField:
    return TextField(
        label=gettext_lazy(ASPECT_NAMES[aspect]),
        help_text=gettext_lazy("The question. {variety} is replaced by the counterpart's variety."),
    )


def _answers() -> forms.CharField:
    return ParagraphField(
        label=gettext_lazy("Five answers"),
        rows=5,
        help_text=gettext_lazy("One per line, from 1 to 5."),
    )


class JudgingForm(AnnotatorStudyForm):
    """What is judged by how many, the questions, and the errors that judges mark."""

    design_model = JudgmentDesign
    design_fields = (
        "corpus",
        "runs",
        "include_human",
        "n_texts",
        "complete",
        "overlap_percent",
        "seed",
    )
    wording_fields = (*WORDING_FIELDS, "marks_errors", "error_scheme")
    help_texts = AnnotatorStudyForm.help_texts | {
        "corpus": gettext_lazy("Pairs of its evaluation split are drawn."),
    }

    runs = forms.MultipleChoiceField(
        label=gettext_lazy("Runs whose counterparts are judged"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Finished runs of counterpart generation, by corpus. A model that was run in one "
            "direction at a time needs both of its runs."
        ),
    )
    include_human = SwitchField(
        label=gettext_lazy("Judge the human counterparts too, as the baseline"), initial=True
    )
    n_texts = WholeNumberField(
        label=gettext_lazy("Number of pairs"),
        min_value=1,
        initial=100,
        help_text=gettext_lazy("How many are drawn; each is judged in both directions."),
    )
    complete = SwitchField(
        label=gettext_lazy("Draw only pairs that every producer rewrote in both directions"),
        initial=True,
    )
    overlap_percent = NumberField(
        label=gettext_lazy("Overlap"),
        min_value=0,
        max_value=100,
        initial=10,
        help_text=gettext_lazy(
            "Percentage of the counterparts that a second judge rates, to tell how far judges "
            "agree."
        ),
    )
    human_likeness_question = _question("human_likeness")
    human_likeness_answers = _answers()
    linguistic_match_question = _question("linguistic_match")
    linguistic_match_answers = _answers()
    meaning_preservation_question = _question("meaning_preservation")
    meaning_preservation_answers = _answers()
    tone_preservation_question = _question("tone_preservation")
    tone_preservation_answers = _answers()

    marks_errors = SwitchField(
        label=gettext_lazy("Judges also mark the words that are errors"), required=False
    )
    error_scheme = ParagraphField(
        label=gettext_lazy("Kinds of error"),
        required=False,
        rows=4,
        help_text=gettext_lazy(
            "One on each line, its name first, then a colon and what it means. Judges read both; "
            "every kind gets its own row in results."
        ),
    )

    class Meta:
        model = JudgmentStudy
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "runs" not in self.fields:
            return
        corpora: QuerySet[Corpus] = self.fields["corpus"].queryset  # type: ignore[attr-defined]
        choices = build_run_choices(corpora)
        self.fields["runs"].choices = choices  # type: ignore[attr-defined]
        if not choices:
            self.fields["runs"].help_text = _(
                "No run has written counterparts of a corpus yet. Human ones can be judged alone."
            )

    def show_design(self) -> dict[str, Any]:
        wording = default_wording() | ((self.design.wording if self.design else None) or {})
        scheme = parse_scheme(self.design.error_scheme) if self.design else ()
        return (
            super().show_design()
            | {
                f"{aspect}_{part}": value
                for aspect in ASPECTS
                for part, value in (
                    ("question", wording[aspect]["question"]),
                    ("answers", "\n".join(wording[aspect]["answers"])),
                )
            }
            | {
                "marks_errors": bool(scheme),
                "error_scheme": write_scheme(scheme or DEFAULT_SCHEME),
            }
        )

    def clean_error_scheme(self) -> list[dict[str, str]]:
        """Return the scheme as it is stored; a study without one keeps none."""
        if not self.cleaned_data.get("marks_errors"):
            return []
        return store_scheme(read_scheme(self.cleaned_data["error_scheme"]))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.is_draft:
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
        if (there := cleaned["corpus"].pairs.count()) < cleaned["n_texts"]:
            text = ngettext(
                "“%(corpus)s” has %(n)d pair, expected no more.",
                "“%(corpus)s” has %(n)d pairs, expected no more.",
                there,
            )
            self.add_error("n_texts", text % {"corpus": cleaned["corpus"], "n": there})
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
            if len(part["answers"]) != 5:
                problem = _("Enter five answers, one per line, from 1 to 5.")
                self.add_error(f"{aspect}_answers", problem)
        if self.errors:
            return
        try:
            parse_wording(wording)
        except ValidationError as error:
            for message in error.messages:
                self.add_error(_find_field(message), message)
        cleaned["wording"] = wording

    def design_options(self) -> dict[str, Any]:
        wording, scheme = (self.cleaned_data[name] for name in ("wording", "error_scheme"))
        return {**super().design_options(), "wording": wording, "error_scheme": scheme}


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
