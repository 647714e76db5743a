"""The designer of a survey: its page, its autosave, its live preview and what it looks up."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import Any

from csp.constants import HEADER
from csp.utils import build_policy
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import date as format_date
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _

from annotation.common.language_codes import direction_of, own_name
from annotation.instruments.documents.document import (
    DocumentError,
    hash_document,
    write_document,
)
from annotation.instruments.documents.draft_service import StaleDraftError, save_draft
from annotation.instruments.flow_description import describe_flow
from annotation.instruments.known_texts import list_known
from annotation.instruments.languages.texts import list_texts, locate_step_texts
from annotation.instruments.previews import list_previews
from annotation.instruments.text_labels import TEXT_LABELS
from annotation.library.english_forms import Forms, check_forms, propose_singular
from annotation.library.paired_groups import SEPARATOR
from annotation.library.trait_kind import check_trait
from annotation.models import (
    DemographicQuestion,
    Dimension,
    Domain,
    GroupSet,
    Instrument,
    Origin,
    QuestionKind,
    SocialGroup,
    StudyStatus,
    TraitPair,
)
from annotation.researcher.instruments.flow_editor import describe_kinds
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.researcher.library.entry_form import propose_slug
from annotation.researcher.pages.links import link_findings
from annotation.steps.kind import KINDS
from annotation.studies.readiness import Finding, Place, examine_study, list_languages
from annotation.survey.draft_page import UndrawableStepError, draw_draft

MOST_BYTES = 4_000_000
LONGEST_KEY = 40
# How a message about a step begins.
STEP_BEFORE = re.compile(r"^Step \d+ (\([^)]*\): )?")
RUNNING = {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}


class DesignerPage(InstrumentPage):
    """The steps, the chosen step's editor, and its page as participants see it."""

    route = "<int:pk>/change/"
    name = "change"
    template_name = "admin/annotation/instrument/designer.html"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = self.show()
        response[HEADER] = build_policy(update={"frame-src": ["'self'"]})
        return response

    def get_context_data(self) -> dict[str, Any]:
        instrument, study = self.instrument, self.study
        versions = list(study.instruments.order_by("-version"))
        newest = versions[0]
        is_draft = instrument == newest and not newest.is_frozen
        findings = examine_study(study, instrument) if is_draft else []
        return {
            **super().get_context_data(),
            "versions": versions,
            "in_force": next((version for version in versions if version.is_frozen), None),
            "before": next((old for old in versions if old.version < instrument.version), None),
            "steps": describe_flow(instrument.flow),
            "may_edit": self.may_edit,
            "may_copy": self.may_change
            and newest.is_frozen
            and study.origin != Origin.IMPORTED
            and study.status != StudyStatus.ARCHIVED,
            "may_publish": self.may_change and is_draft and study.status in RUNNING,
            "may_launch": self.may_change and is_draft and study.status == StudyStatus.DRAFT,
            "may_discard": self.may_change and is_draft and len(versions) > 1,
            "may_preview": study.origin != Origin.IMPORTED,
            "n_previews": list_previews(study).count() if self.may_change else 0,
            "n_problems": sum(finding.blocks for finding in findings),
            "config": build_config(
                instrument, may_edit=self.may_edit, user=self.user, findings=findings
            ),
        }


class SaveDraft(InstrumentPage):
    """Stores edits as they are made: the parts of the document that have changed."""

    route = "<int:pk>/draft/"
    name = "draft"
    http_method_names = ["post"]
    edits = True

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        sent = read_json(request)
        if not isinstance(sent.get("parts"), dict) or not isinstance(sent.get("token"), str):
            return refuse(_("Expected the parts of a draft and its token."))
        key, unanswered = sent.get("key", ""), sent.get("unanswered", [])
        if not (is_key(key) and isinstance(unanswered, list) and all(map(is_key, unanswered))):
            return refuse(_("Expected the names of saves."))
        try:
            stored, token = save_draft(
                instrument=self.instrument,
                parts=sent["parts"],
                token=sent["token"],
                by=self.user,
                key=key,
                unanswered=unanswered,
            )
        except StaleDraftError:
            return JsonResponse(describe_conflict(self.instrument), status=HTTPStatus.CONFLICT)
        except DocumentError as error:
            return refuse(_("Not saved: something cannot be stored."), error.problems)
        except ValidationError as error:
            return refuse(" ".join(error.messages))
        findings = examine_study(stored.study, stored)
        return JsonResponse(
            {
                "token": token,
                "findings": locate_findings(findings, stored),
                "languages": describe_languages(stored),
            }
        )


class DraftTexts(InstrumentPage):
    """All texts of a version beside their translation into one other language."""

    route = "<int:pk>/texts/"
    name = "texts"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        code = request.GET.get("language", "")
        if code not in list_languages(self.instrument)[1:]:
            return refuse(_("The study has no such language."))
        paths = locate_step_texts(self.instrument.flow)
        return JsonResponse(
            {
                "texts": [
                    {
                        "key": text.key,
                        "source": text.source,
                        "translation": text.translation,
                        "stale": text.is_stale,
                        "path": paths.get(text.key),
                    }
                    for text in list_texts(self.instrument, code)
                    if not text.is_of_arm  # they are edited where the arms are
                ]
            }
        )


class DrawStep(InstrumentPage):
    """One step as participants read it, for the frame of the designer."""

    route = "<int:pk>/draw/"
    name = "draw"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        languages = list_languages(self.instrument)
        language = request.GET.get("language", "")
        number, seed = (request.GET.get(name, "1") for name in ("step", "seed"))
        try:
            html = draw_draft(
                self.instrument,
                index=int(number) - 1 if number.isdecimal() else -1,
                language=language if language in languages else languages[0],
                seed=int(seed) % 2**31 if seed.isdecimal() else 1,
            )
        except UndrawableStepError as error:
            response = render(
                request, "admin/annotation/instrument/undrawn.html", {"problem": str(error)}
            )
        else:
            script = format_html(
                '<script type="module" src="{}"></script></head>',
                static("annotation/designer-frame.js"),
            )
            response = HttpResponse(html.replace("</head>", script, 1))
        response[HEADER] = build_policy(replace={"frame-ancestors": ["'self'"]})
        response["X-Frame-Options"] = "SAMEORIGIN"
        response["Cache-Control"] = "no-store"
        return response


class DesignerLibrary(InstrumentPage):
    """The groups and trait pairs that can be chosen; takes new ones into the library."""

    route = "<int:pk>/library/"
    name = "library"
    edits = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        return JsonResponse(describe_library())

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        sent = read_json(request)
        try:
            if "plural" in sent:
                return JsonResponse(self.add_group(sent), status=HTTPStatus.CREATED)
            return JsonResponse(self.add_scale(sent), status=HTTPStatus.CREATED)
        except ValidationError as error:
            return refuse(" ".join(error.messages))

    def add_group(self, sent: dict[str, Any]) -> dict[str, Any]:
        """Return a group by its plural: one of the library, or a new one in it."""
        self.check_right("annotation.add_socialgroup")
        plural = " ".join(str(sent["plural"]).split())
        capitalized = plural[:1].upper() + plural[1:]
        found = SocialGroup.objects.filter(plural__iexact=plural).first()
        if found is None:
            singular = propose_singular(plural)
            problems = check_forms(Forms(singular, plural, capitalized))
            if firm := [str(problem) for problem in problems if problem.firm]:
                raise ValidationError(firm)
            found = SocialGroup(
                slug=free_slug(SocialGroup, propose_slug(singular) or propose_slug(plural)),
                singular=singular,
                plural=plural,
                plural_capitalised=capitalized,
                domains=[name for name in sent.get("domains", ()) if name in Domain.values],
            )
            found.full_clean()
            found.save()
        return describe_group(found)

    def add_scale(self, sent: dict[str, Any]) -> dict[str, Any]:
        """Return a new trait pair; one of the library with the same poles is taken as it is."""
        self.check_right("annotation.add_traitpair")
        low, high = (" ".join(str(sent.get(name, "")).split()) for name in ("low", "high"))
        found = TraitPair.objects.filter(low=low, high=high).first()
        if found is None:
            if firm := [str(one) for one in check_trait(low, high, (), ()) if one.firm]:
                raise ValidationError(firm)
            if sent.get("dimension") not in Dimension.values:
                raise ValidationError(
                    _(
                        "Choose the dimension of the ABC model that the scale belongs to: agency, "
                        "beliefs or communion. Reports put scales together by it."
                    )
                )
            last = TraitPair.objects.order_by("-position").first()
            found = TraitPair(
                slug=free_slug(TraitPair, propose_slug(f"{low} {high}")),
                low=low,
                high=high,
                dimension=sent["dimension"],
                position=last.position + 1 if last else 1,
            )
            found.full_clean()
            found.save()
        return describe_scale(found)

    def check_right(self, permission: str) -> None:
        if not self.user.has_perm(permission):
            raise PermissionDenied


def is_key(value: Any) -> bool:
    """Return whether a value can be what the designer calls one of its saves."""
    return isinstance(value, str) and len(value) <= LONGEST_KEY


def read_json(request: HttpRequest) -> dict[str, Any]:
    """Return the object that was sent; an empty one for anything else."""
    try:
        sent = json.loads(request.body) if len(request.body) <= MOST_BYTES else {}
    except (ValueError, RecursionError):
        return {}
    return sent if isinstance(sent, dict) else {}


def refuse(text: str, problems: dict[str, str] | None = None) -> JsonResponse:
    answer = {"text": text, "problems": problems or {}}
    return JsonResponse(answer, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def free_slug(model: Any, wanted: str) -> str:
    """Return ``wanted``, with a number behind it if it is taken. Two queries."""
    base = wanted[:70].strip("-") or "entry"
    taken = set(model.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    names = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def describe_conflict(instrument: Instrument) -> dict[str, Any]:
    """Return who stored the draft last, and its token for whoever decides to replace it."""
    stored = Instrument.objects.select_related("study").get(pk=instrument.pk)
    last = stored.history.select_related("history_user").first()
    name = last.history_user.get_username() if last and last.history_user else _("Somebody else")
    at = timezone.localtime(last.history_date) if last else timezone.now()
    return {
        "text": _("%(name)s changed this version on %(at)s, after you opened it.")
        % {"name": name, "at": format_date(at, "j M Y H:i")},
        "token": hash_document(write_document(stored)),
    }


def build_config(
    instrument: Instrument, *, may_edit: bool, user: Any, findings: list[Finding]
) -> dict[str, Any]:
    """Return what the designer's scripts have to know. Some ten queries."""

    def address(name: str, *action: str) -> str:
        return reverse(f"admin:annotation_instrument_{name}", args=[instrument.pk, *action])

    document = write_document(instrument)
    languages = list_languages(instrument)
    return {
        "pk": instrument.pk,
        "mayEdit": may_edit,
        # Answers to an earlier version are stored under these names.
        "keepsNames": instrument.version > 1,
        "document": document,
        "token": hash_document(document),
        "addresses": {
            **{name: address(name) for name in ("draft", "draw", "library", "texts", "languages")},
            "addLanguage": address("language_action", "add"),
            "keepQuestion": address("keep_question"),
            "questions": address("question_picker"),
        },
        "languages": describe_languages(instrument),
        "ratesTexts": instrument.study.rates_texts,
        "mayAddGroups": user.has_perm("annotation.add_socialgroup"),
        "mayAddScales": user.has_perm("annotation.add_traitpair"),
        "dimensions": [[value, str(label)] for value, label in Dimension.choices],
        "questionKinds": [[value, str(label)] for value, label in QuestionKind.choices],
        "questionLimits": {
            name: getattr(DemographicQuestion._meta.get_field(name), "max_length", None)
            for name in ("label", "help_text")
        },
        "knownLanguages": [
            {"code": code, "name": own_name(code)} for code in list_known() if code not in languages
        ],
        "findings": locate_findings(findings, instrument),
        **describe_kinds(instrument, languages),
    }


def describe_languages(instrument: Instrument) -> list[dict[str, str]]:
    return [
        {"code": code, "name": own_name(code), "direction": direction_of(code)}
        for code in list_languages(instrument)
    ]


def locate_findings(findings: list[Finding], instrument: Instrument) -> list[dict[str, Any]]:
    """Return findings with the index of the step where each is mended, or an address."""
    kinds = [item.get("kind") if isinstance(item, dict) else item for item in instrument.flow]
    part_kinds = {part: name for name, kind in KINDS.items() for part in kind.parts}

    def find_step(finding: Finding) -> int | None:
        kind: str | None = part_kinds.get(finding.place.value)
        if finding.step is not None:
            return finding.step
        if finding.place == Place.TEXTS and finding.field in TEXT_LABELS:
            kind = TEXT_LABELS[finding.field].kind
        return kinds.index(kind) if kind in kinds else None

    linked = link_findings(findings, instrument.study, on_instrument=True)
    return [
        {
            "text": finding.text,
            "short": shorten_finding(finding),
            "blocks": finding.blocks,
            "step": find_step(finding),
            "field": finding.field,
            "panel": "languages" if finding.place == Place.LANGUAGES else "",
            "address": "" if link.address.startswith("#") else link.address,
        }
        for finding, link in zip(findings, linked, strict=True)
    ]


def shorten_finding(finding: Finding) -> str:
    """Return what is wrong as it reads beside its field: without the step and without the field."""
    if finding.step is None:
        return finding.text
    text = STEP_BEFORE.sub("", finding.text).removeprefix(f"{finding.field}: ")
    return text[:1].upper() + text[1:]


def describe_library() -> dict[str, Any]:
    """Return the library as pickers need it. Four queries."""
    groups = SocialGroup.objects.all()
    return {
        "groups": [describe_group(group) for group in groups],
        "sets": [
            {"label": found.title, "values": [group.slug for group in found.groups.all()]}
            for found in GroupSet.objects.prefetch_related("groups")
        ],
        "domains": [[value, str(label)] for value, label in Domain.choices],
        "scales": [describe_scale(pair) for pair in TraitPair.objects.all()],
    }


def describe_group(group: SocialGroup) -> dict[str, Any]:
    return {
        "slug": group.slug,
        "singular": group.singular,
        "plural": group.plural,
        "plural_capitalised": group.plural_capitalised,
        "domains": group.domains,
        "paired": SEPARATOR in group.slug,
    }


def describe_scale(pair: TraitPair) -> dict[str, Any]:
    return {"slug": pair.slug, "low": pair.low, "high": pair.high, "dimension": pair.dimension}
