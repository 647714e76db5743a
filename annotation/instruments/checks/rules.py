"""What a failed check of each kind may lead to. The one home of this rule."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import CheckKind


@dataclass(frozen=True)
class CheckRule:
    """``rests_on_memory``: asks for something seen before; ``may_reject``: may be a ground to
    withhold pay where a panel allows it. Every failed check may exclude data."""

    rests_on_memory: bool
    may_reject: bool


# Panels let one reject for instructional and nonsensical items only; who misunderstood the
# instructions twice is screened out or excluded, and paid.
CHECK_RULES: dict[CheckKind, CheckRule] = {
    CheckKind.GROUP_NAME: CheckRule(rests_on_memory=True, may_reject=False),
    CheckKind.MARKED_TRAITS: CheckRule(rests_on_memory=True, may_reject=False),
    CheckKind.REPEATED_GROUP: CheckRule(rests_on_memory=True, may_reject=False),
    CheckKind.INSTRUCTED: CheckRule(rests_on_memory=False, may_reject=True),
    CheckKind.NONSENSICAL: CheckRule(rests_on_memory=False, may_reject=True),
    CheckKind.COMPREHENSION: CheckRule(rests_on_memory=False, may_reject=False),
}
