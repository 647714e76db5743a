"""What annotators wrote, and the gold counterpart of each text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.annotators.forms import clean_text
from annotation.common.row_order import order_rows
from annotation.corpora.gold_pairs import GoldItem, GoldResult, add_gold_pairs, find_due
from annotation.counterparts.drafts import LONGEST_BODY
from annotation.models import (
    Adjudication,
    Counterpart,
    Study,
    TaskState,
    Text,
    WritingDesign,
    WritingTask,
)
from annotation.studies.lifecycle import lock_study

# --- What annotators wrote in a study, as agreement is computed from it


@dataclass(frozen=True)
class Annotation:
    """One submitted counterpart; `body` is "" where the text is not interpretable."""

    text_slug: str
    source: str
    annotator_number: int
    body: str
    not_interpretable: bool


def load_annotations(study: Study) -> list[Annotation]:
    """Return every submitted counterpart, by text and annotator, singles included. One query.

    Drafts never count; neither does work that was taken from somebody before it was submitted.
    """
    rows = WritingTask.objects.filter(study=study, state=TaskState.DONE).values_list(
        "text__slug",
        "text__source",
        "annotator__number",
        "counterpart__body",
        "counterpart__not_interpretable",
    )
    return [
        Annotation(slug, source, number, body or "", bool(refused))
        for slug, source, number, body, refused in order_rows(rows, 0, 2)
    ]


# --- Gold counterparts


class CaseState(Enum):
    """Where a text stands on its way to one gold counterpart."""

    WAITING = "waiting"  # not everybody has written it
    SINGLE = "single"  # one annotator: theirs is taken
    IDENTICAL = "identical"  # all wrote the same
    DIFFERS = "differs"  # somebody has to decide
    DECIDED = "decided"


@dataclass
class Case:
    """A text of a study with what was written of it, by annotator."""

    text: Text
    overlap: str
    written: list[Counterpart] = field(default_factory=list)
    missing: int = 0
    adjudication: Adjudication | None = None

    @property
    def state(self) -> CaseState:
        if self.adjudication is not None:
            automatic = self.adjudication.is_automatic
            return CaseState.IDENTICAL if automatic else CaseState.DECIDED
        if self.missing or not self.written:
            return CaseState.WAITING
        return CaseState.SINGLE if len(self.written) == 1 else CaseState.DIFFERS

    @property
    def has_changed(self) -> bool:
        """Whether somebody changed a counterpart after the decision."""
        decided = self.adjudication
        return decided is not None and any(
            counterpart.updated_at > decided.decided_at
            for counterpart in self.written
            if not decided.is_automatic
        )

    @property
    def body(self) -> str | None:
        """The gold counterpart; "" where there is none, None while it is open."""
        if self.adjudication is not None:
            return self.adjudication.body
        return self.written[0].body if self.state == CaseState.SINGLE else None


def load_cases(study: Study) -> list[Case]:
    """Return every text of a study that somebody has or had done, by slug. Two queries."""
    cases: dict[int, Case] = {}
    for task in (
        WritingTask.objects.filter(study=study)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("text", "counterpart", "counterpart__annotator")
        .order_by("text__slug", "annotator__number")
    ):
        case = cases.setdefault(task.text_id, Case(task.text, task.overlap))
        if task.state == TaskState.DONE and task.counterpart is not None:
            case.written.append(task.counterpart)
        else:
            case.missing += 1
    for adjudication in Adjudication.objects.filter(study=study).select_related("decided_by"):
        if case_of := cases.get(adjudication.text_id):
            case_of.adjudication = adjudication
    return list(cases.values())


def find_queue(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that wait for a person."""
    return [case for case in cases if case.state == CaseState.DIFFERS]


def find_last_decision(study: Study) -> Adjudication | None:
    """Return what a person decided last. One query."""
    decided = Adjudication.objects.filter(study=study, is_automatic=False)
    return decided.select_related("text").order_by("-decided_at").first()


@transaction.atomic
def adjudicate(
    *,
    study: Study,
    text: Text,
    decided_by: AbstractBaseUser,
    chosen: Counterpart | None = None,
    body: str = "",
    not_interpretable: bool = False,
    note: str = "",
) -> Adjudication:
    """Record the gold counterpart of a text: one that was chosen, another, or none.

    Deciding again replaces the decision; its history stays. Raises `ValidationError` for a text
    whose counterparts are not all there, and for a decision without a counterpart.
    """
    study = lock_study(study)
    tasks = WritingTask.objects.filter(study=study, text=text).exclude(state=TaskState.WITHDRAWN)
    if not tasks.exists():
        raise ValidationError(_("The text “%(text)s” is not part of the study.") % {"text": text})
    if tasks.filter(state=TaskState.OPEN).exists():
        raise ValidationError(_("Not everybody who has this text has written it yet."))
    if chosen is not None:
        if not tasks.filter(counterpart=chosen).exists():
            raise ValidationError(_("This counterpart is not one of the text’s."))
        body, not_interpretable = chosen.body, chosen.not_interpretable
    body = "" if not_interpretable else clean_text(body)
    if not body and not not_interpretable:
        raise ValidationError(_("Choose a counterpart, or write one."))
    if len(body) > LONGEST_BODY:
        raise ValidationError(
            _("The counterpart has %(n)d characters, expected at most %(most)d.")
            % {"n": len(body), "most": LONGEST_BODY}
        )
    decision = Adjudication.objects.filter(study=study, text=text).first()
    decision = decision or Adjudication(study=study, text=text)
    decision.chosen, decision.body = chosen, body
    decision.not_interpretable = not_interpretable
    decision.is_automatic = False
    decision.note = " ".join(clean_text(note).split())
    decision.decided_by = decided_by  # type: ignore[assignment]
    decision.full_clean(validate_constraints=False)
    decision.save()
    return decision


@transaction.atomic
def undo_adjudication(*, study: Study, text: Text) -> None:
    """Take a decision back: the text waits for one again. Its history stays."""
    lock_study(study)
    decision = Adjudication.objects.filter(study=study, text=text, is_automatic=False).first()
    if decision is not None:
        decision.delete()
        settle_text(study=study, text=text)


def are_identical(counterparts: Sequence[Counterpart]) -> bool:
    """Whether all say the same: the same words, white space aside, or all not interpretable."""
    first = counterparts[0]
    return all(
        one.not_interpretable == first.not_interpretable and one.body.split() == first.body.split()
        for one in counterparts
    )


def settle_text(*, study: Study, text: Text) -> None:
    """Record the gold counterpart where all annotators of a text agree, and take it back where they
    no longer do. A person's decision is never touched. Called within the transaction of a change;
    three queries.
    """
    tasks = list(
        WritingTask.objects.filter(study=study, text=text)
        .exclude(state=TaskState.WITHDRAWN)
        .select_related("counterpart")
        .order_by("annotator__number")
    )
    written = [task.counterpart for task in tasks if task.counterpart is not None]
    decided = Adjudication.objects.filter(study=study, text=text).first()
    if decided is not None and not decided.is_automatic:
        return
    complete = len(written) == len(tasks) and all(task.state == TaskState.DONE for task in tasks)
    if len(written) < 2 or not complete or not are_identical(written):
        if decided is not None:
            decided.delete()
        return
    decided = decided or Adjudication(study=study, text=text, is_automatic=True)
    decided.chosen, decided.body = written[0], written[0].body
    decided.not_interpretable = written[0].not_interpretable
    decided.note = _("All annotators wrote the same.")
    decided.save()


@dataclass(frozen=True)
class Gold:
    """What can be published, and how many texts cannot, by why."""

    pairs: Sequence[tuple[Text, str]]
    not_interpretable: int
    undecided: int
    waiting: int


def collect_gold(cases: Sequence[Case]) -> Gold:
    """Return the gold counterparts as they stand: decided, identical, or one annotator's own."""
    states = Counter(case.state for case in cases)
    settled = [(case.text, case.body) for case in cases if case.body is not None]
    return Gold(
        pairs=[(text, body) for text, body in settled if body],
        not_interpretable=sum(not body for _text, body in settled),
        undecided=states[CaseState.DIFFERS],
        waiting=states[CaseState.WAITING],
    )


def count_unpublished(study: Study, cases: Sequence[Case]) -> int:
    """Return how many texts publishing would change the gold pair of. Two queries."""
    design = WritingDesign.objects.select_related("corpus").get(study=study)
    return len(find_due(corpus=design.corpus, study=study, items=_gold_items(cases)))


def _gold_items(cases: Sequence[Case]) -> list[GoldItem]:
    return [GoldItem(case.text, case.body or "") for case in cases]


@transaction.atomic
def publish_gold(*, study: Study, published_by: AbstractBaseUser | None = None) -> GoldResult:
    """Store the gold counterparts as pairs of the corpus; returns what became of every text.

    Publishing again brings the pairs to where the study stands now: a pair whose decision was
    undone goes. Raises `ValidationError` where nothing is there to publish.
    """
    study = lock_study(study)
    cases = load_cases(study)
    if not collect_gold(cases).pairs:
        raise ValidationError(
            _("There is nothing to publish yet: no text has its gold counterpart.")
        )
    return add_gold_pairs(
        corpus=WritingDesign.objects.select_related("corpus").get(study=study).corpus,
        study=study,
        items=_gold_items(cases),
        user=published_by,
    )
