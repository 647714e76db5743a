"""An installation to attack: one of everything, owned by one researcher, and accounts of all roles.

What outsiders must never read holds `SECRET` in its text, so that a page that leaks it is seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.db.models import Model
from django.utils import timezone

from annotation.annotators.invitations import accept_invitation, invite_annotator
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.instruments.known_texts import new_content
from annotation.instruments.questions.question_service import keep_step
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import (
    Corpus,
    GroupExclusion,
    JudgmentDesign,
    MembershipRole,
    SocialGroup,
    Study,
    StudyMembership,
)
from annotation.steps.free_text import FreeText
from annotation.studies.creation import create_study, human_study_groups
from annotation.studies.lifecycle import launch_study
from annotation.studies.teams import create_team
from evaluation.models import Norm, Report
from evaluation.reports.building import build_report
from evaluation.reports.requesting import request_report
from probing.models import LabeledTextSet, LanguageModel, Run, RunStatus, WordList
from probing.runs.text_stimuli import load_text_stimuli
from stereoscope.api_authentication import create_token
from stereoscope.demo.simulation import fill_with_simulated_people
from tests.annotation.counterparts import studies as writing
from tests.annotation.judgments import corpora as judging
from tools.attack.addresses import find_word
from tools.attack.roles import ROLES, Role

SECRET = "zqxjkv"  # noqa: S105 - a word that stands nowhere else
VISIT_PAGES = ("survey:page", "survey:own", "survey:receipt", "survey:own-file")
GROUPS = ("asian", "black", "elderly")


@dataclass
class World:
    """Rows by ``app_model``, and what stands in addresses beside them."""

    rows: dict[str, Model] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)

    def find(self, name: str, hole: str) -> object:
        """Return what stands in a hole of the address ``name``; a word that fits nothing else."""
        if (word := find_word(name, hole)) is not None:
            return word
        if hole == "token":
            return self.links.get(name, "0" * 32)
        if hole == "public_id":
            return self._find_public(name)
        if hole == "slug":
            return "text-000"
        if hole in {"pk", "id", "object_id"}:
            return self._find_key(name)
        if hole == "content_type_id":
            return 1
        return "nothing"

    def _find_key(self, name: str) -> object:
        label = name.partition(":")[2]
        if label.startswith("annotation_submission_queue"):
            return self.rows["annotation_study"].pk
        found = max((key for key in self.rows if label.startswith(f"{key}_")), key=len, default="")
        return self.rows[found].pk if found else 1

    def _find_public(self, name: str) -> str:
        kinds = {
            "survey:": "annotation_study",
            "counterparts:": "annotation_writingstudy",
            "judgments:": "annotation_judgmentstudy",
            "reports:agreement": "annotation_writingstudy",
            "reports:": "evaluation_report",
            "api:study-judgment": "annotation_judgmentstudy",
            "api:study-error": "annotation_judgmentstudy",
            "api:study-counterpart": "annotation_writingstudy",
            "api:study-writing": "annotation_writingstudy",
            "api:study": "annotation_study",
            "api:corpus": "annotation_corpus",
            "api:model": "probing_languagemodel",
            "api:run": "probing_run",
            "api:report": "evaluation_report",
        }
        row = next((row for start, row in kinds.items() if name.startswith(start)), "")
        return str(getattr(self.rows.get(row), "public_id", "nothing00000"))


def build_world() -> World:
    """Store everything; the owner's own study, corpora, run and report are nobody else's."""
    users = {role.name: _create_account(role) for role in ROLES if role.account and not role.scopes}
    owner = users["owner"]
    admin.autodiscover()
    world = World()
    study = _create_survey(owner)
    studies = [study, *_create_annotated(owner, users["annotator"], world)]
    for role in ROLES:
        if role.member in MembershipRole.values and users.get(role.name, owner) != owner:
            for one in studies:
                StudyMembership.objects.create(study=one, user=users[role.name], role=role.member)
    _create_work(owner, JudgmentDesign.objects.get(study=studies[2]).corpus)
    _create_rest(owner, study)
    for model in admin.site._registry:
        row = model._default_manager.filter(**_choose(model, studies, owner)).order_by("pk").first()
        if row is None:
            raise LookupError(f"The world to attack lacks a row of {model._meta.label}.")
        world.rows[model._meta.label_lower.replace(".", "_")] = row
    return world


def _create_account(role: Role) -> User:
    user = User.objects.create_user(
        role.account,
        password=f"{SECRET} {role.name}",
        is_staff=role.is_staff,
        is_superuser=role.is_superuser,
        is_active=role.is_active,
    )
    if role.is_permitted:
        rooms = ["annotation", "probing", "evaluation"]
        user.user_permissions.set(Permission.objects.filter(content_type__app_label__in=rooms))
    return user


def _create_survey(owner: User) -> Study:
    question = {"kind": "free_text", "key": "text"} | new_content(FreeText, ["en"])
    study = create_study(
        title=f"{SECRET} groups",
        owner=owner,
        contact_email="lab@example.org",
        groups=[group for group in human_study_groups() if group.slug in GROUPS],
        flow=["consent", "rating", "rating", "repeat", question, "demographics"],
        quota_per_group=3,
        reward_cents=200,
        decide_by_checks=True,
    )
    study = launch_study(study=study)
    fill_with_simulated_people(study=study, seed=5)
    Study.objects.filter(pk=study.pk).update(quota_per_group=1000)  # open to those who attack it
    return study


def _create_annotated(owner: User, annotator: User, world: World) -> list[Study]:
    corpus = writing.make_corpus(name=f"{SECRET} posts", owner=owner)
    write = writing.make_writing_study(
        corpus=corpus, launched=False, owner=owner, title=f"{SECRET} writing"
    )
    judged = judging.make_corpus(name=f"{SECRET} pairs")
    judged.owner = owner
    judged.save()
    judge = judging.make_study(judged, owner=owner, title=f"{SECRET} judging")
    for study in (write, judge):
        place = invite_annotator(study=study)
        accept_invitation(token=place.invitation_token, user=annotator)
    return [launch_writing_study(study=write), launch_judgment_study(study=judge)]


def _create_work(owner: User, corpus: Corpus) -> None:
    """A finished run on the texts of the owner's corpus, and a model that it was made with."""
    model = LanguageModel.objects.create(
        name="Tiny", kind="masked", source="path", location="/nothing"
    )
    texts = load_text_stimuli(corpus)
    Run.objects.create(
        measure="perplexity",
        model=model,
        parameters={},
        corpus=corpus,
        stimuli=texts.to_dict(),
        stimuli_hash=texts.content_hash(),
        status=RunStatus.FINISHED,
        created_by=owner,
        code_version="attack",
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )


def build_reports(world: World) -> None:
    """Build a report on the study, and one on a corpus, of what is stored by now."""
    owner = User.objects.get(username="owner")
    study = Study.objects.get(pk=world.rows["annotation_study"].pk)
    corpus = Corpus.objects.filter(owner=owner, pairs__isnull=False).first()
    for kind, rests_on in (("rating_agreement", {"study": study}), ("dataset", {"corpus": corpus})):
        asked = request_report(kind=kind, runs=[], created_by=owner, **rests_on)
        built = build_report(report_id=asked.pk)
        if built is None or built.status != "final":
            raise LookupError(f"The report was not built: {built and built.error}")


def _create_rest(owner: User, study: Study) -> None:
    Report.objects.create(
        kind="rating_agreement", title=f"{SECRET} report", study=study, created_by=owner
    )
    create_token(user=owner, name=f"{SECRET} token")
    create_team(name=f"{SECRET} team", owner=owner)
    instrument = study.instruments.get()
    step = next(n for n, item in enumerate(instrument.flow) if isinstance(item, dict))
    keep_step(
        instrument=instrument, index=step, name=f"{SECRET} text", owner=owner, is_shared=False
    )
    Group.objects.create(name="researchers")
    first, second = SocialGroup.objects.order_by("pk")[:2]
    GroupExclusion.objects.get_or_create(first=first, second=second)
    seen: dict[str, Any] = {"ip_address": "192.0.2.1", "username": "x", "path_info": "/"}
    AccessAttempt.objects.create(**seen, failures_since_start=1)
    AccessLog.objects.create(**seen)
    AccessFailureLog.objects.create(**seen)
    WordList.objects.get_or_create(slug="attacked", defaults={"title": "Words", "words": ["a"]})
    LabeledTextSet.objects.get_or_create(slug="attacked", defaults={"title": "T", "texts": []})
    Norm.objects.get_or_create(
        slug="attacked", defaults={"title": "N", "kind": "percent", "values": {"warm": 1}}
    )


def _choose(model: type[Model], studies: list[Study], owner: User) -> dict[str, Any]:
    """Return which row of a model is attacked: the owner's."""
    survey, write, judge = (study.pk for study in studies)
    chosen: dict[str, dict[str, Any]] = {
        "Study": {"pk": survey},
        "WritingStudy": {"pk": write},
        "JudgmentStudy": {"pk": judge},
        "Instrument": {"study": survey},
        "Submission": {"study": survey},
        "User": {"pk": owner.pk},
        "LibraryQuestion": {"owner": owner},
    }
    return chosen.get(model.__name__, {})
