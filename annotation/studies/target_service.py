"""Sets the target margins of a study, and whether people are chosen by them."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.common.target_margins import Margins
from annotation.instruments.flow import FlowError, parse_flow
from annotation.instruments.versions import current_instrument
from annotation.models import Study, StudyStatus
from annotation.studies.lifecycle import lock_study
from annotation.studies.target_quotas import find_margin_faults, find_screening_faults


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
