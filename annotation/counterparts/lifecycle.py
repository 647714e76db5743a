"""Launches a writing study: what keeps it from it, and the tasks that it gives out."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.annotators.lifecycle import launch
from annotation.counterparts.assignment_plan import AssignmentError, count_pair_share
from annotation.counterparts.assignment_service import assign_tasks
from annotation.counterparts.creation import count_open_texts
from annotation.models import Study, WritingDesign


def find_launch_problems(study: Study) -> list[str]:
    """Return what keeps a writing study from being launched, one sentence each. Four queries."""
    design = WritingDesign.objects.select_related("corpus").filter(study=study).first()
    if design is None:
        return [_("The study has no design: it names no corpus.")]
    problems: list[str] = []
    corpus = design.corpus
    people = study.annotators.active().count()
    if not people:
        problems.append(_("Nobody is invited yet, expected at least one annotator."))
    by_source = count_open_texts(corpus, per_source=design.per_source)
    there = min(by_source.values(), default=0)
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
    elif design.n_texts is not None and design.n_texts > there and design.per_source:
        problems.append(
            _(
                "The study draws %(n)d texts of every source, but one has only %(there)d without "
                "a gold counterpart."
            )
            % {"n": design.n_texts, "there": there}
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
            drawn = sum(
                n if design.n_texts is None else min(n, design.n_texts) for n in by_source.values()
            )
            common = design.common_texts * len(by_source)
            count_pair_share(max(0, drawn - common), people, design.shared_percent)
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
    people = study.annotators.active().count()
    if people == 1:
        return [_("With one annotator nothing is written twice, so that there is no agreement.")]
    if people and not design.common_texts and not design.shared_percent:
        return [_("No text is written twice, so that there is no agreement.")]
    return []


def launch_writing_study(*, study: Study) -> Study:
    """Give the texts out and open the study; see `annotation.annotators.lifecycle.launch`."""
    return launch(
        study, work="writing_tasks", find_problems=find_launch_problems, assign=assign_tasks
    )
