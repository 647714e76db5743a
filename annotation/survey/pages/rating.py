"""A rating page: one group, every trait scale as a line from 0 to 100."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.common.prepared_sql import PreparedInsert
from annotation.instruments.flow import Step
from annotation.models import Missing, MissingRating, Rating, Skipping, Study, StudyGroup
from annotation.steps.forms import FilledForm, not_offered, read_single, refuse_unknown
from annotation.steps.lines import SKIP, draw_lines, read_lines, show_lines
from annotation.steps.rating import RatingStep
from annotation.survey.pages.page import AskedStep, Page
from annotation.survey.visits.client_record import LineRecord
from annotation.survey.visits.visit import Visit

LONGEST_FRAME = 160  # characters
SKIP_GROUP = "skip"  # a field; those of lines begin with `annotation.steps.lines.SKIP`
_RATINGS = PreparedInsert(Rating)
_MISSING = PreparedInsert(MissingRating)


@dataclass(frozen=True)
class Question:
    """The question cut at the group's name, which stands out."""

    before: str
    group: str
    after: str

    @property
    def is_long(self) -> bool:
        """Whether the frame would fill a phone at the size of a heading."""
        return len(self.before) + len(self.after) > LONGEST_FRAME


def draw_question(text: str, group: str) -> dict[str, SafeString]:
    """Return the page's title, the group and the heading, in which it stands out, as HTML."""
    before, _found, after = text.partition("{group}")
    question = Question(before=before, group=group, after=after.replace("{group}", group))
    return {
        "title": conditional_escape(question.before + question.group + question.after),
        "group": conditional_escape(group),
        "question": render_to_string("survey/parts/question.html", {"question": question}),
    }


def draw_text(visit: Visit, group: StudyGroup) -> dict[str, SafeString]:
    """Return the text that is rated, as HTML; nothing where a group is."""
    if not group.is_text:
        return {}
    language = visit.submission.language
    drawn = visit.keep(
        ("text", language, group.slug),
        lambda: render_to_string(
            "survey/parts/text.html", {"label": visit.wording["text_label"], "text": group.body}
        ),
    )
    return {"said": drawn}


class RatingPage(Page, of=RatingStep):
    def open(self, visit: Visit, step: Step) -> bool:
        return step.position in visit.assignments

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        shown = {**show_lines(visit.lines, filled), "lead": visit.wording["question_lead"]}
        if visit.instrument.skipping == Skipping.NEVER:
            return shown
        of_texts = visit.study.rates_texts
        return {
            **shown,
            "skip_name": _("I can’t tell, or I’d rather not answer")
            if of_texts
            else _("I don’t know this group, or I’d rather not answer"),
            "skip_asked": _("Will you rate this writer?")
            if of_texts
            else _("Will you rate this group?"),
            "way_out": describe_way_out(visit),
            "skip_chosen": filled.text(SKIP_GROUP),
            "skip_options": [("", _("Yes, on the lines")), *name_group_skips(visit.study).items()],
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        group = visit.assignments[step.position].group
        drawn = visit.keep(
            ("question", visit.submission.language, group.slug, visit.is_flipped),
            lambda: draw_question(visit.question, visit.name_group(group)),
        )
        return {
            **drawn,
            **draw_text(visit, group),
            "place": conditional_escape(_name_place(visit, step)),
            "drawn_lines": draw_lines(
                AskedStep(visit, step),
                visit.lines,
                filled,
                skips=[*name_line_skips().items()]
                if visit.instrument.skipping == Skipping.LINE
                else [],
                way_out=visit.instrument.skipping != Skipping.NEVER,
            ),
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        skipped = read_skips(sent, visit)
        values = read_lines(sent, visit.lines, skipped=skipped)
        assignment, nothing = visit.assignments[step.position], LineRecord()
        if values:
            _RATINGS.insert(
                [
                    {
                        "assignment_id": assignment.pk,
                        "scale_id": line.scale.pk,
                        "value": line.to_scale(values[line.key]),
                        "position": line.position,
                        "flipped": line.flipped,
                        "first_touch_ms": record.first_touch_ms,
                        "changes": record.changes,
                        "means": record.means or "",
                    }
                    for line in visit.lines
                    if line.key in values
                    for record in [visit.client.lines.get(line.key, nothing)]
                ]
            )
        if skipped:
            _MISSING.insert(
                [
                    {
                        "assignment_id": assignment.pk,
                        "scale_id": line.scale.pk,
                        "kind": skipped[line.key],
                    }
                    for line in visit.lines
                    if line.key in skipped
                ]
            )
            visit.left_out = {"answered": len(values) / len(visit.lines)}
        if not values:
            kinds = set(skipped.values())
            assignment.skipped = kinds.pop() if len(kinds) == 1 else Missing.DECLINED
            assignment.save(update_fields=["skipped"])
            visit.left_out = {"skipped": True}


def read_skips(sent: QueryDict, visit: Visit) -> dict[str, str]:
    """Return why each line is left out that is, by scale slug; all of them where the group is.

    A line that is left out has no answer, whatever else was sent of it. Raises `PageRefused` for
    what the study does not offer.
    """
    lines = [line.key for line in visit.lines]
    skipping = visit.instrument.skipping
    fields = {SKIP_GROUP: ""} if skipping != Skipping.NEVER else {}
    if skipping == Skipping.LINE:
        fields |= {SKIP + key: key for key in lines}
    refuse_unknown(sent, prefixes=(SKIP_GROUP,), known=set(fields))
    found = {key: kind for name, key in fields.items() if (kind := read_single(sent, name))}
    for kind in found.values():
        if kind not in Missing.values:
            raise not_offered(kind)
    group = found.pop("", "")
    return dict.fromkeys(lines, group) if group else found


def name_group_skips(study: Study) -> dict[str, str]:
    """Return the reasons for which a group can be left out, in the participant's words."""
    unknown = (
        _("I can’t tell from this text") if study.rates_texts else _("I don’t know this group")
    )
    return name_line_skips() | {Missing.UNKNOWN.value: unknown}


def name_line_skips() -> dict[str, str]:
    return {
        Missing.DECLINED.value: _("I’d rather not answer"),
        Missing.UNKNOWN.value: _("I don’t know"),
    }


def describe_way_out(visit: Visit) -> str:
    """Return what somebody can do who would rather not answer a line: before a link's colon."""
    by_line = visit.instrument.skipping == Skipping.LINE
    if visit.study.rates_texts and by_line:
        return _("You can leave out a line with the list below it, or the whole text:")
    if visit.study.rates_texts:
        return _("You cannot leave out one line alone, but you can leave out the whole text:")
    if by_line:
        return _("You can leave out a line with the list below it, or the whole group:")
    return _("You cannot leave out one line alone, but you can leave out the whole group:")


def _name_place(visit: Visit, step: Step) -> str:
    """Return which of a visit's texts or groups stands on the page; "" where it comes again."""
    places = [place for place, one in sorted(visit.assignments.items()) if not one.is_repeat]
    if step.position not in places:
        return ""
    counts = {"n": places.index(step.position) + 1, "total": len(places)}
    if visit.study.rates_texts:
        return _("Text %(n)d of %(total)d") % counts
    return _("Group %(n)d of %(total)d") % counts
