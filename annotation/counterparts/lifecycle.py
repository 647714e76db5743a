"""Launches a writing study: what keeps it from it, and the tasks that it gives out."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.counterparts.assigning import active_annotators, assign_tasks
from annotation.counterparts.assignment import AssignmentError, count_pair_share
from annotation.counterparts.drawing import open_texts
from annotation.models import Study, StudyStatus, WritingDesign
from annotation.studies.lifecycle import change_status, lock_study


def find_launch_problems(study: Study) -> list[str]:
    """Return what keeps a writing study from being launched, one sentence each. Four queries."""
    design = WritingDesign.objects.select_related("corpus").filter(study=study).first()
    if design is None:
        return [_("The study has no design: it names no corpus.")]
    problems: list[str] = []
    corpus = design.corpus
    people = len(active_annotators(study))
    if not people:
        problems.append(_("Nobody is invited yet, expected at least one annotator."))
    there = open_texts(corpus).count()
    if not corpus.texts.filter(variety=corpus.source_variety).exists():
        problems.append(
            _("The corpus “%(corpus)s” has no text in %(variety)s, the variety to be rewritten.")
            % {"corpus": corpus, "variety": corpus.source_variety}
        )
    elif not there:
        problems.append(
            _("Every text of the corpus “%(corpus)s” has a gold counterpart already.")
            % {"corpus": corpus}
        )
    elif design.n_texts is not None and design.n_texts > there:
        problems.append(
            ngettext(
                "The study draws %(n)d texts, but %(there)d text of the corpus has no gold "
                "counterpart.",
                "The study draws %(n)d texts, but %(there)d texts of the corpus have no gold "
                "counterpart.",
                there,
            )
            % {"n": design.n_texts, "there": there}
        )
    wanted = there if design.n_texts is None else min(design.n_texts, there)
    if wanted and design.common_texts > wanted:
        problems.append(
            _("%(n)d texts are to be written by everyone, but the study has only %(there)d.")
            % {"n": design.common_texts, "there": wanted}
        )
    elif people:
        try:
            count_pair_share(wanted - design.common_texts, people, design.shared_percent)
        except AssignmentError as error:
            problems.append(str(error))
    if not design.guidelines:
        problems.append(_("There is no guideline, expected at least one."))
    return problems


def find_launch_remarks(study: Study) -> list[str]:
    """Return what is easily overlooked, but keeps nothing from its launch. Two queries."""
    design = WritingDesign.objects.filter(study=study).first()
    if design is None:
        return []
    people = len(active_annotators(study))
    if people == 1:
        return [_("With one annotator nothing is written twice, so that there is no agreement.")]
    if people and not design.common_texts and not design.shared_percent:
        return [_("No text is written twice, so that there is no agreement.")]
    return []


@transaction.atomic
def launch_writing_study(*, study: Study) -> Study:
    """Give the texts out and open the study; resume it where it was launched before.

    Launching a live study changes nothing. Raises `ValidationError` with every problem.
    """
    study = lock_study(study)
    if study.status == StudyStatus.LIVE:
        return study
    if not study.writing_tasks.exists():
        problems = find_launch_problems(study)
        if problems:
            raise ValidationError(problems)
        assign_tasks(study=study)
    return change_status(study, StudyStatus.LIVE)
