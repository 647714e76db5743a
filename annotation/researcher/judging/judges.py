"""The page on which judges are invited, removed and given work again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.annotators.invitations import invite_annotator
from annotation.judgments.assignment_service import GivenAgain, give_out_again, remove_judge
from annotation.judgments.progress import load_progress
from annotation.models import StudyStatus
from annotation.researcher.judging.overview import JudgingPage, find_newcomers
from annotation.researcher.pages.annotators import PeoplePage


class JudgesPage(JudgingPage, PeoplePage):
    route = "<int:pk>/judges/"
    name = tab = "judges"
    invite = staticmethod(invite_annotator)
    remove = staticmethod(remove_judge)
    removed = gettext_lazy("%(who)s is removed. Judgments stay, open work went to the others.")

    def own_buttons(self) -> Mapping[str, Callable[[], None]]:
        return {"give-out": self.share_open_work}

    def get_context_data(self) -> dict[str, Any]:
        draft = self.study.status == StudyStatus.DRAFT
        progress = load_progress(self.study)
        return {
            **super().get_context_data(),
            **self.describe_people({judge.annotator.pk: judge.open for judge in progress.judges}),
            "progress": progress,
            "newcomers": [] if draft else find_newcomers(progress),
        }

    def share_open_work(self) -> None:
        given = give_out_again(study=self.study)
        if given.moved:
            text = ngettext(
                "%(n)d counterpart has a new judge.",
                "%(n)d counterparts have a new judge.",
                given.moved,
            )
            self.say(text % {"n": given.moved})
        for remark in explain_rest(given):
            messages.warning(self.request, remark)


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
