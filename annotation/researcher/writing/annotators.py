"""The page on which annotators of a writing study are invited and their texts are moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext_lazy, ngettext

from annotation.counterparts.assignment_service import (
    add_writer,
    assign_unassigned,
    describe_changes,
    find_unassigned,
    hand_over,
    remove_writer,
)
from annotation.counterparts.progress import load_progress
from annotation.models import StudyStatus
from annotation.researcher.pages.annotators import PeoplePage
from annotation.researcher.writing.overview import WritingPage


class WritersPage(WritingPage, PeoplePage):
    route = "<int:pk>/annotators/"
    name = tab = "annotators"
    invite = staticmethod(add_writer)
    remove = staticmethod(remove_writer)
    removed = gettext_lazy("%(who)s is removed. Finished texts stay, open ones went to the others.")

    def own_buttons(self) -> Mapping[str, Callable[[], None]]:
        return {"hand-over": self.move_texts, "assign": self.assign_texts}

    def get_context_data(self) -> dict[str, Any]:
        draft = self.study.status == StudyStatus.DRAFT
        writers = load_progress(self.study).writers
        people = self.describe_people({one.annotator.pk: one.open for one in writers})
        return {
            **super().get_context_data(),
            **people,
            "active": [
                row.annotator for row in people["people"] if row.annotator.removed_at is None
            ],
            "unassigned": 0 if draft else len(find_unassigned(self.study)),
        }

    def move_texts(self) -> None:
        receiver = self.find_place("receiver") if self.request.POST.get("receiver") else None
        giver = self.find_place()
        moved, dropped = describe_changes(hand_over(giver=giver, receiver=receiver))
        said = ngettext("%(n)d text was moved.", "%(n)d texts were moved.", moved) % {"n": moved}
        if dropped:
            said += " " + ngettext(
                "%(n)d more was only taken from %(who)s: the others have it already.",
                "%(n)d more were only taken from %(who)s: the others have them already.",
                len(dropped),
            ) % {"n": len(dropped), "who": giver}
        self.say(said)

    def assign_texts(self) -> None:
        n_texts = assign_unassigned(study=self.study)
        text = ngettext("%(n)d text was assigned.", "%(n)d texts were assigned.", n_texts)
        self.say(text % {"n": n_texts})
