"""Launches a judgment study: what keeps it from it, and the tasks that it gives out."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.annotators.lifecycle import launch
from annotation.judgments.assignment_service import (
    Preview,
    assign_tasks,
    joined,
    preview_assignment,
)
from annotation.judgments.questions import list_producers, missing_directions
from annotation.models import JudgmentDesign, Study


def find_launch_problems(study: Study, preview: Preview | None = None) -> list[str]:
    """Return what keeps a judgment study from its launch, one sentence each. Nine queries."""
    design = JudgmentDesign.objects.select_related("corpus").filter(study=study).first()
    if design is None:
        return [_("The study has no design: it names no corpus.")]
    preview = preview or preview_assignment(study)
    draw, plan = preview.draw, preview.plan
    problems: list[str] = []
    here = joined(preview.judges)
    if not here:
        problems.append(
            _(
                "Nobody has joined yet, expected at least one judge. Only of those who have is it "
                "known which counterparts they wrote."
            )
        )
    problems += _find_producer_problems(design)
    if len(draw.pairs) < draw.wanted:
        problems.append(
            _(
                "The study draws %(wanted)d pairs, but only %(there)d of “%(corpus)s” can be "
                "drawn%(why)s. Ask for %(there)d or fewer%(remedy)s."
            )
            % {
                "wanted": draw.wanted,
                "there": draw.eligible,
                "corpus": design.corpus,
                "why": _explain(preview),
                "remedy": _(", or draw incomplete pairs too") if design.complete else "",
            }
            if draw.eligible
            else _("No pair of “%(corpus)s” can be drawn%(why)s.")
            % {"corpus": design.corpus, "why": _explain(preview)}
        )
    if here and plan.unjudgeable:
        problems.append(
            ngettext(
                "%(n)d of %(all)d counterparts can be judged by nobody: everyone who has joined "
                "wrote or decided a counterpart of its text. Invite a judge who did not.",
                "%(n)d of %(all)d counterparts can be judged by nobody: everyone who has joined "
                "wrote or decided a counterpart of their texts. Invite a judge who did not.",
                len(plan.unjudgeable),
            )
            % {"n": len(plan.unjudgeable), "all": len(draw.items)}
        )
    return problems


def find_launch_remarks(study: Study, preview: Preview) -> list[str]:
    """Return what does not keep the study from its launch, but is easily overlooked."""
    remarks = [describe_idle(number) for number in preview.plan.idle]
    waiting = len(preview.judges) - len(joined(preview.judges))
    if waiting:
        remarks.append(
            ngettext(
                "%(n)d person is invited and has not joined: they get counterparts when you give "
                "out work again after they have.",
                "%(n)d people are invited and have not joined: they get counterparts when you give "
                "out work again after they have.",
                waiting,
            )
            % {"n": waiting}
        )
    if preview.plan.missing_overlap and len(joined(preview.judges)) > 1:
        remarks.append(
            _(
                "%(n)d second judgments are wanted that nobody may give: too few judges did not "
                "write a counterpart of these texts."
            )
            % {"n": preview.plan.missing_overlap}
        )
    elif preview.plan.missing_overlap:
        remarks.append(
            _(
                "No counterpart is judged twice yet: second judgments are drawn when you give out "
                "work again after another judge has joined."
            )
        )
    elif not preview.plan.twice:
        remarks.append(
            _("No counterpart is judged twice, so that it cannot be told how far judges agree.")
        )
    if preview.draw.missing:
        remarks.append(
            ngettext(
                "%(n)d counterpart of the drawn pairs is missing: producers are not judged on the "
                "same texts.",
                "%(n)d counterparts of the drawn pairs are missing: producers are not judged on "
                "the same texts.",
                preview.draw.missing,
            )
            % {"n": preview.draw.missing}
        )
    return remarks


def describe_idle(number: int) -> str:
    return _(
        "Annotator %(number)d wrote or decided a counterpart of every text that is drawn, so that "
        "there is nothing for them to judge."
    ) % {"number": number}


def _find_producer_problems(design: JudgmentDesign) -> list[str]:
    there = {producer.run: producer for producer in list_producers(design.corpus)}
    problems = []
    gone = [run for run in design.runs if run not in there]
    if gone:
        problems.append(
            _("These runs have no counterparts of the corpus any more: %(runs)s.")
            % {"runs": ", ".join(gone)}
        )
    if not design.runs and not design.include_human:
        problems.append(_("No producers selected."))
    if design.complete:
        chosen = [there[run] for run in design.runs if run in there]
        problems += [
            _("%(model)s wrote nothing into %(variety)s.") % {"model": model, "variety": variety}
            for model, variety in missing_directions(design.corpus, chosen)
        ]
    return problems


def _explain(preview: Preview) -> str:
    """Return the reasons for which pairs are left out, as the end of a sentence."""
    reasons = [f"{one.n} × {one.reason}" for one in preview.draw.left_out]
    return _(" (left out: %(reasons)s)") % {"reasons": "; ".join(reasons)} if reasons else ""


def launch_judgment_study(*, study: Study) -> Study:
    """Draw the counterparts, give them out and open the study; see `launch`."""
    return launch(
        study, work="judgment_items", find_problems=find_launch_problems, assign=assign_tasks
    )
