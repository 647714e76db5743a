"""What uses entries of the library, and so keeps them from being deleted.

Data, scores and norms are joined by slugs. A study or run that holds a slug of an entry would lose
its names and sets with it. Each room registers what it knows; imports only point down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Model

from annotation.library.abc_model import HUMAN_STUDY_SET
from annotation.models import (
    GroupComponent,
    GroupSet,
    SocialGroup,
    Study,
    StudyGroup,
    TraitPair,
    TraitScale,
)

User = AbstractBaseUser | AnonymousUser
#: Gets the entries' model, their slugs and who asks; yields a slug and what uses it, in words.
UseFinder = Callable[[type[Model], Collection[str], User], Iterable[tuple[str, str]]]

_FINDERS: list[UseFinder] = []


def register_uses(finder: UseFinder) -> None:
    """Ask this finder too, from now on."""
    if finder not in _FINDERS:
        _FINDERS.append(finder)


def find_uses(model: type[Model], slugs: Collection[str], user: User) -> dict[str, list[str]]:
    """Return what uses these entries → the slugs that it uses, both in a stable order.

    What `user` may not see is told without its name.
    """
    found: dict[str, set[str]] = {}
    for finder in (_find_study_uses, *_FINDERS):
        for slug, what in finder(model, slugs, user):
            found.setdefault(what, set()).add(slug)
    return {what: sorted(found[what]) for what in sorted(found)}


def _find_study_uses(
    model: type[Model], slugs: Collection[str], user: User
) -> Iterable[tuple[str, str]]:
    """Yield studies and paired groups. Three queries at most."""
    if model is GroupSet and HUMAN_STUDY_SET[0] in slugs:
        yield HUMAN_STUDY_SET[0], "new studies and runs, which begin with it"
    copies: dict[type[Model], tuple[Any, str]] = {
        SocialGroup: (StudyGroup, "group__slug"),
        TraitPair: (TraitScale, "trait_pair__slug"),
    }
    if model not in copies:
        return
    copy, name = copies[model]
    visible = set(Study.objects.visible_to(user).values_list("pk", flat=True))
    rows = copy.objects.filter(**{f"{name}__in": slugs}).values_list(
        name, "instrument__study_id", "instrument__study__title"
    )
    for slug, study, title in rows.distinct():
        yield slug, f"the study “{title}”" if study in visible else "a study of somebody else"
    if model is SocialGroup:
        pairs: dict[str, list[str]] = {}
        links = GroupComponent.objects.filter(component__slug__in=slugs).order_by("group__slug")
        for slug, pair in links.values_list("component__slug", "group__plural"):
            pairs.setdefault(slug, []).append(pair)
        for slug, plurals in pairs.items():
            if len(plurals) == 1:
                yield slug, f"the paired group “{plurals[0]}”"
            else:
                yield slug, f"{len(plurals)} paired groups, such as “{plurals[0]}”"
