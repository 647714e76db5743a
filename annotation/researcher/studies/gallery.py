"""Where a new study begins: ready-made ones, a copy, or the file of an instrument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget

from annotation.instruments.documents.document import DocumentError
from annotation.instruments.documents.instrument_file import read_instrument_file
from annotation.instruments.files import copy_files
from annotation.instruments.presets import PresetName
from annotation.instruments.versions import copy_instrument, current_instrument
from annotation.models import Origin, Study, StudyKind, StudyStatus
from annotation.models.study import new_completion_codes
from annotation.models.tokens import new_public_id
from annotation.researcher.instruments.files import InstrumentFileForm
from annotation.researcher.pages.fields import TextField
from annotation.researcher.pages.page import ResearcherPage
from annotation.studies.creation import create_study
from annotation.studies.instrument_import import import_study, may_complete_library

# --- A study once more: its settings and its newest instrument, without people, codes or money

# What belongs to one collection of data and to nothing else.
OWN = frozenset(
    {
        "id",
        "public_id",
        "title",
        "status",
        "owner",
        "completion_codes",
        "pilot_started_at",
        "pilot_is_counted",
        "withdraw_until",
        "created_at",
        "launched_at",
        "closed_at",
    }
)


@transaction.atomic
def duplicate_study(*, study: Study, title: str, owner: AbstractBaseUser | None) -> Study:
    """Return a draft with the settings and the newest instrument of a study with participants.

    Panels that are connected, submissions and decisions stay with the study. Raises
    `ValidationError` for a study that was imported and for a bad title.
    """
    source = current_instrument(study)
    if source is None or study.origin == Origin.IMPORTED:
        raise ValidationError(_("The study has no instrument that could be copied."))
    settings = {
        field.attname: getattr(study, field.attname)
        for field in Study._meta.concrete_fields
        if field.name not in OWN
    }
    copy = Study(
        **settings,
        title=title,
        owner=owner,  # type: ignore[misc]
        public_id=new_public_id(),
        status=StudyStatus.DRAFT,
        completion_codes=new_completion_codes(),
    )
    copy.full_clean()
    copy.save()
    copy_files(source, copy_instrument(source, study=copy, version=1))
    return copy


# --- The gallery


@dataclass(frozen=True)
class Start:
    """One way to begin: what comes of it and what it takes of people and researchers."""

    slug: str
    title: Any
    says: Any
    takes: Any
    preset: str | None = None
    #: The form that asks for more, by the name of its address and its query.
    form: tuple[str, str] = ("", "")


STARTS = (
    Start(
        "cao-2022",
        PresetName.CAO_2022.label,
        gettext_lazy(
            "People rate five groups on sixteen lines, with the question, instructions and checks "
            "of the paper."
        ),
        gettext_lazy("About 12 minutes for each person; 25 groups from the paper."),
        preset=PresetName.CAO_2022,
    ),
    Start(
        "short-abc",
        PresetName.SHORT.label,
        gettext_lazy(
            "People rate two groups on six lines: two each of agency, beliefs, communion."
        ),
        gettext_lazy("About 4 minutes for each person; one check."),
        preset=PresetName.SHORT,
    ),
    Start(
        "group-ratings",
        gettext_lazy("Group ratings of your own"),
        gettext_lazy(
            "The platform’s own wording and checks, to be changed as you like: groups, lines, "
            "questions, languages."
        ),
        gettext_lazy("About 11 minutes for each person, as it begins."),
        preset=PresetName.OWN,
    ),
    Start(
        "speakers",
        gettext_lazy("Speakers of texts"),
        gettext_lazy(
            "People read short texts in two varieties and say what the writer is like, without "
            "knowing what is compared."
        ),
        gettext_lazy("A corpus with at least six text pairs; about 10 minutes for each person."),
        form=("admin:annotation_study_add", f"?kind={StudyKind.GUISE_RATING}"),
    ),
    Start(
        "writing",
        gettext_lazy("Counterpart writing"),
        gettext_lazy("Annotators rewrite texts in another variety; where they differ, you decide."),
        gettext_lazy("A corpus of texts, and annotators whom you invite."),
        form=("admin:annotation_writingstudy_add", ""),
    ),
    Start(
        "judging",
        gettext_lazy("Judging"),
        gettext_lazy("Annotators judge how well counterparts keep the meaning and the variety."),
        gettext_lazy("A corpus with counterparts, and annotators whom you invite."),
        form=("admin:annotation_judgmentstudy_add", ""),
    ),
)


class BeginForm(forms.Form):
    """What a study cannot do without; all else has its default and is changed afterwards."""

    title = TextField(
        label=gettext_lazy("Title"),
        max_length=160,
        help_text=gettext_lazy("Participants read it."),
    )
    contact_email = forms.EmailField(
        label=gettext_lazy("Contact"),
        widget=TextField.widget(attrs={"type": "email"}),
        help_text=gettext_lazy("An address at which participants reach you; on every page."),
    )


class DuplicateForm(BeginForm):
    study = forms.ModelChoiceField(
        Study.objects.none(),
        label=gettext_lazy("Study"),
        empty_label=gettext_lazy("Choose a study"),
        widget=UnfoldAdminSelectWidget,
    )
    field_order = ("study", "title")

    def __init__(self, *args: Any, studies: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["contact_email"]  # the copy has that of the study
        self.fields["study"].queryset = studies  # type: ignore[attr-defined]


class FileForm(InstrumentFileForm, BeginForm):
    pass


class StudyGallery(ResearcherPage):
    """The ways to begin."""

    route = "new/"
    name = "gallery"
    folder = "study"

    def prepare(self) -> None:
        if not self.model_admin.has_add_permission(self.request):
            raise PermissionDenied

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "title": _("New study"),
            "starts": [(start, find_address(start)) for start in STARTS],
            "may_copy": list_copyable(self.request).exists(),
        }


class BeginStudy(ResearcherPage):
    """Asks for a title and a contact, creates the study, and leads to its designer."""

    route = "new/<slug:start>/"
    name = "begin"
    folder = "study"

    def prepare(self) -> None:
        slug = self.kwargs["start"]
        self.start = next(
            (one for one in STARTS if one.slug == slug and one.preset is not None), None
        )
        if self.start is None and slug not in {"copy", "file"}:
            raise Http404
        if not self.model_admin.has_add_permission(self.request):
            raise PermissionDenied

    def build_form(self, data: Any = None, files: Any = None) -> Any:
        initial: dict[str, Any] = {"contact_email": self.user.email}
        match self.kwargs["start"]:
            case "copy":
                studies = list_copyable(self.request)
                chosen = studies.filter(pk__in=self.request.GET.getlist("study")[:1]).first()
                initial = {"study": chosen, "title": _copy_title(chosen)}
                return DuplicateForm(data, initial=initial, studies=studies)
            case "file":
                return FileForm(data, files, initial=initial)
        return BeginForm(data, initial=initial)

    def get_context_data(self) -> dict[str, Any]:
        titles = {"copy": _("Copy a study"), "file": _("From a file")}
        start: Any = self.start
        title = start.title if start else titles[self.kwargs["start"]]
        return {**super().get_context_data(), "title": title, "start": start}

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return self.show(form=self.build_form())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = self.build_form(request.POST, request.FILES)
        if form.is_valid():
            try:
                study = self.create(form.cleaned_data)
            except DocumentError as error:
                return self.show(form=form, problems=error.problems, status=422)
            except ValidationError as error:
                form.add_error(None, error)
            else:
                said = _("“%(study)s” is a draft. Launch it when it is ready.")
                messages.success(request, said % {"study": study})
                return redirect("admin:annotation_study_instrument", study.pk)
        return self.show(form=form, status=422)

    def create(self, given: dict[str, Any]) -> Study:
        title = given["title"]
        if isinstance(given.get("study"), Study):
            return duplicate_study(study=given["study"], title=title, owner=self.user)
        common = {"title": title, "owner": self.user, "contact_email": given["contact_email"]}
        if "file" in given:
            return import_study(
                document=read_instrument_file(given["file"].read()),
                may_add=may_complete_library(self.user),
                **common,
            )
        preset = self.start.preset if self.start else ""
        return create_study(preset=preset or "", **common)


def find_address(start: Start) -> str:
    name, query = start.form
    if name:
        return f"{reverse(name)}{query}"
    return reverse("admin:annotation_study_begin", args=[start.slug])


def list_copyable(request: HttpRequest) -> Any:
    """Return the studies with participants that somebody may copy."""
    studies = Study.objects.surveys().visible_to(request.user).exclude(origin=Origin.IMPORTED)
    return studies.filter(instruments__isnull=False).distinct()


def _copy_title(study: Study | None) -> str:
    return _("%(title)s, copy") % {"title": study.title[:150]} if study else ""
