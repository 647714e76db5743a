"""The page on which the annotators of a study are invited, given new links and removed.

Annotators are numbers here too. The address of an open invitation shows until it is accepted, so
that researchers can tell whom they have asked; afterwards nothing but the number does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminSelectWidget

from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.invitations import (
    build_join_link,
    can_send_mail,
    is_expired,
    renew_invitation,
    send_invitation,
)
from annotation.annotators.statement import LONGEST_PART, STATEMENT_PARTS, find_statement
from annotation.models import (
    Annotator,
    AnnotatorStatement,
    Corpus,
    JudgmentDesign,
    Study,
    StudyStatus,
    WritingDesign,
)
from annotation.researcher.pages import formatting
from annotation.researcher.pages.audit_page import AuditPage
from annotation.researcher.pages.colleagues import ColleaguesPage
from annotation.researcher.pages.export_page import ExportPage
from annotation.researcher.pages.fields import ParagraphField, WholeNumberField, fill
from annotation.researcher.pages.next_steps import find_study_steps
from annotation.researcher.pages.page import ButtonPage, Confirmation, Tabs, button, refusals_shown
from annotation.researcher.pages.study_page import (
    BEFORE_LAUNCH,
    ActionPage,
    StudyPage,
    ask_to_close,
    ask_to_launch,
)
from annotation.studies.lifecycle import archive_study, close_study, pause_study

# --- What the forms of writing and judgment studies have in common

STUDY_FIELDS = ("title", "contact_email", "ethics_reference")
STATEMENT_FIELDSET = (
    gettext_lazy("For the data statement"),
    {
        "fields": tuple(STATEMENT_PARTS),
        "description": gettext_lazy(
            "Reports print it, and say “not recorded” where it is empty. Write about all "
            "annotators together, never about one: few people are easily recognized."
        ),
    },
)


def _part(name: str) -> forms.CharField:
    return ParagraphField(
        label=STATEMENT_PARTS[name],
        required=False,
        max_length=LONGEST_PART,
        rows=2,
        help_text=getattr(AnnotatorStatement._meta.get_field(name), "help_text", ""),
    )


class AnnotatorStudyForm(forms.ModelForm):
    """A study, its design and the statement about its annotators; services store all three.

    The statement can always be changed; the design of a launched study is only shown.
    """

    design_model: ClassVar[type[WritingDesign | JudgmentDesign]]
    #: What the services take of the design, and the fields that show it, where they differ.
    design_fields: ClassVar[tuple[str, ...]]
    wording_fields: ClassVar[tuple[str, ...]] = ()
    help_texts: ClassVar[dict[str, Any]] = {
        "title": gettext_lazy("Annotators read it."),
        "contact_email": gettext_lazy("Shown to annotators on every page."),
    }

    corpus = forms.ModelChoiceField(
        Corpus.objects.none(),
        label=gettext_lazy("Corpus"),
        empty_label=gettext_lazy("Choose a corpus"),
        widget=UnfoldAdminSelectWidget,
    )
    seed = WholeNumberField(
        label=gettext_lazy("Seed"),
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text=gettext_lazy(
            "Decides which texts are drawn and in which order they come. Leave empty to have one "
            "chosen."
        ),
    )
    recruitment = _part("recruitment")
    background = _part("background")
    training = _part("training")
    pay = _part("pay")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, text in self.help_texts.items():
            if name in self.fields:
                self.fields[name].help_text = text
        self.design: Any = self.design_model.objects.filter(study_id=self.instance.pk).first()
        shown = self.show_design()
        if self.instance.pk is not None:
            statement = find_statement(self.instance)
            shown |= {name: getattr(statement, name) for name in STATEMENT_PARTS}
        fill(self, shown)
        if self.design is not None:
            for name in (*self.design_fields, *self.wording_fields):
                if name in self.fields:
                    self.fields[name].disabled = not self.is_draft

    @property
    def is_draft(self) -> bool:
        return self.instance.pk is None or self.instance.status == StudyStatus.DRAFT

    def show_design(self) -> dict[str, Any]:
        """Return what the fields of the design hold when the form is opened."""
        if self.design is None:
            return {}
        return {name: getattr(self.design, name) for name in self.design_fields}

    def design_options(self) -> dict[str, Any]:
        """Return what the services take of the design; an empty seed is left to them."""
        values = {name: self.cleaned_data[name] for name in self.design_fields}
        if values["seed"] is None:
            del values["seed"]
        return values

    def statement_parts(self) -> dict[str, str]:
        """Return what the service takes of the statement."""
        return {name: self.cleaned_data[name] for name in STATEMENT_PARTS}


# --- The pages of writing and judgment studies: both are done by annotators

REFRESHED = {StudyStatus.LIVE, StudyStatus.PAUSED}
OVER = {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


class AnnotatorStudyPage(StudyPage):
    """A page of a study that annotators work on; a kind of study names itself and its tabs."""

    kind: ClassVar[str]
    plural: ClassVar[Any]
    #: The tabs that other kinds do not have: name of the page, label.
    own_tabs: ClassVar[tuple[tuple[str, Any], ...]]

    def visible_studies(self) -> QuerySet[Study]:
        return Study.objects.visible_to(self.request.user).filter(kind=self.kind)

    @classmethod
    def build_tabs(cls, study: Study) -> Tabs:
        pages = (
            ("overview", _("Overview"), "overview"),
            *((page, str(label), page) for page, label in cls.own_tabs),
            ("settings", _("Settings"), "change"),
            ("colleagues", _("Colleagues"), "colleagues"),
            ("history", _("History"), "history"),
        )
        return [(name, label, cls.address(study, page)) for name, label, page in pages]

    def get_context_data(self) -> dict[str, Any]:
        names = f"admin:annotation_{self.model_name}"
        return {
            **super().get_context_data(),
            "status_badge": formatting.study_badge(self.study),
            "may_change": self.may_act,
            "is_draft": self.study.status == StudyStatus.DRAFT,
            "is_refreshed": self.study.status in REFRESHED,
            "is_over": self.study.status in OVER,
            "plural": self.plural,
            "changelist": f"{names}_changelist",
            "action_page": f"{names}_action",
            "settings_page": f"{names}_change",
        }


class OverviewPage(AnnotatorStudyPage):
    """The main page of a study: its progress, design, statement and downloads."""

    route = "<int:pk>/overview/"
    name = tab = "overview"

    def get_context_data(self) -> dict[str, Any]:
        statement = find_statement(self.study)
        return {
            **super().get_context_data(),
            "statement": [
                (str(label), getattr(statement, name)) for name, label in STATEMENT_PARTS.items()
            ],
            "next_steps": find_study_steps(self.study, self.user),
        }


class LivePart(AnnotatorStudyPage):
    """The part of the overview that is fetched again and again."""

    route = "<int:pk>/live/"
    name = "live"
    describe_progress: ClassVar[Callable[..., dict[str, Any]]]

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        context = {
            "study": self.study,
            "is_refreshed": self.study.status in REFRESHED,
            **self.describe_progress(self.study),
        }
        response = TemplateResponse(request, self.get_template_names(), context)
        response["Cache-Control"] = "no-store"
        return response


def shared_pages(kind: type[AnnotatorStudyPage]) -> list[type[AnnotatorStudyPage]]:
    """Return the pages that are the same for every kind of study, as those of one."""
    shared = (ExportPage, AuditPage, ColleaguesPage)
    return [type(f"{kind.__name__}{page.__name__}", (kind, page), {}) for page in shared]


class AnnotatorStudyActions(ActionPage):
    """The buttons of such a study's life; a kind of study has its own words and its launch.

    launched, paused : what is said afterwards
    freezes, ends : what a launch freezes and a close ends, said before
    """

    start: ClassVar[Callable[..., Any]]
    launched: ClassVar[Any]
    freezes: ClassVar[Any]
    paused: ClassVar[Any]
    ends: ClassVar[Any]

    def ask_first_time(self) -> Confirmation | None:
        return ask_to_launch(self.freezes) if self.study.status in BEFORE_LAUNCH else None

    @button("launch", ask=ask_first_time)
    def launch(self) -> str:
        self.start(study=self.study)
        return str(self.launched)

    @button("pause")
    def pause(self) -> str:
        pause_study(study=self.study)
        return str(self.paused)

    @button("close", ask=lambda page: ask_to_close(page.ends))
    def close(self) -> str:
        close_study(study=self.study)
        return _("The study is closed.")

    @button("archive")
    def archive(self) -> str:
        archive_study(study=self.study)
        return _("The study is archived.")


# --- Inviting annotators

MOST_ADDRESSES = 50


@dataclass(frozen=True)
class PersonRow:
    """One place as the table of annotators shows it; ``open`` counts tasks that are not done."""

    annotator: Annotator
    open: int
    state: str
    css: str
    link: str = ""
    email: str = ""


class PeoplePage(ButtonPage, AnnotatorStudyPage):
    """Lists people by number; a kind of study says how they join and leave, and adds buttons."""

    #: Services: ``invite(study=, email=)`` creates a place, ``remove(annotator=)`` closes one.
    invite: ClassVar[Callable[..., Annotator]]
    remove: ClassVar[Callable[..., Annotator]]
    removed: ClassVar[Any]  # what is said of ``who``

    def find_place(self, field: str = "annotator") -> Annotator:
        return get_object_or_404(self.study.annotators, public_id=self.request.POST.get(field, ""))

    @button("invite")
    def invite_people(self) -> str | None:
        """Carry out the form that invites, and return what came of it.

        Without an address one place with a link is made.
        """
        addresses = split_addresses(self.request.POST.get("emails", ""))
        if len(addresses) > MOST_ADDRESSES:
            text = _("%(n)d addresses at once, expected at most %(most)d. Nobody was invited.")
            raise ValidationError(text % {"n": len(addresses), "most": MOST_ADDRESSES})
        sent = 0
        for address in addresses or [""]:
            with refusals_shown(self.request):
                annotator = self.invite(study=self.study, email=address)
                if address:
                    sent += self._send(annotator)
                else:
                    text = _("%(who)s has a place. Send them the link below.")
                    return text % {"who": annotator}
        text = ngettext("%(n)d invitation was sent.", "%(n)d invitations were sent.", sent)
        return text % {"n": sent} if sent else None

    def _send(self, annotator: Annotator) -> bool:
        try:
            send_invitation(annotator=annotator)
        except InvitationNotSent as problem:
            messages.warning(self.request, f"{annotator}: {problem}")
            return False
        return True

    @button("renew")
    def renew_link(self) -> str:
        annotator = renew_invitation(annotator=self.find_place())
        if annotator.email and self._send(annotator):
            return _("%(who)s was sent a new link.") % {"who": annotator}
        return _("%(who)s has a new link; the old one no longer works.") % {"who": annotator}

    @button("remove")
    def remove_person(self) -> str:
        annotator = self.remove(annotator=self.find_place())
        return str(self.removed) % {"who": annotator}

    def describe_people(self, open_by_place: Mapping[int, int]) -> dict[str, Any]:
        """Return the table of people and what the forms below it need. One query."""
        return {
            "people": [
                describe_person(annotator, open_by_place.get(annotator.pk, 0), self.may_change)
                for annotator in self.study.annotators.order_by("number")
            ],
            "can_send_mail": can_send_mail(),
        }


def describe_person(annotator: Annotator, open_tasks: int, may_change: bool) -> PersonRow:
    """Return a place in words; link and address only for those who may give them."""
    if annotator.removed_at is not None:
        return PersonRow(annotator, open_tasks, _("Removed"), "mark-ring")
    if annotator.user_id is not None:
        return PersonRow(annotator, open_tasks, _("Joined"), "good mark-tick")
    expired = is_expired(annotator)
    return PersonRow(
        annotator,
        open_tasks,
        _("Invitation expired") if expired else _("Invited"),
        "warn mark-clock" if expired else "info mark-clock",
        link=build_join_link(annotator) if may_change and not expired else "",
        email=annotator.email if may_change else "",
    )


def split_addresses(text: str) -> list[str]:
    """Return the addresses of a field: separated by commas, semicolons, blanks or line ends."""
    return list(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))
