"""Social groups as rows of a file: surface forms, modifier, domains, components, sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from django.contrib.auth.models import AbstractBaseUser

from annotation.library.english_forms import Finding, Forms, capitalize, check_forms, firm
from annotation.library.library_kind import (
    BATCH,
    Column,
    Draft,
    Known,
    LibraryKind,
    Plan,
    Values,
)
from annotation.library.membership import load_memberships, store_memberships
from annotation.library.paired_groups import SEPARATOR as PAIR_SEPARATOR
from annotation.models import Domain, GroupComponent, GroupSet, SocialGroup

COMPONENTS = 2
FIELDS = ("singular", "plural", "plural_capitalised", "modifier", "domains")


class GroupKind(LibraryKind):
    """Groups; a paired one names its two components in their order."""

    name = "groups"
    noun = "group"
    plural = "groups"
    model = SocialGroup
    fields = FIELDS
    set_model = GroupSet
    columns = (
        Column("slug", "the name that data go by, such as elderly", needed=True),
        Column("singular", "as in “That elderly person is …”"),
        Column("plural", "as in “All elderly people are …”"),
        Column(
            "plural_capitalised",
            "as in “Elderly people should be …”; the plural with a capital where it is left empty",
            other_names=("capitalised_plural", "capitalized_plural", "plural_capitalized"),
        ),
        Column(
            "modifier", "as it stands before another group, such as elderly; empty if it cannot"
        ),
        Column("domains", ", ".join(Domain.values), several=True, other_names=("domain",)),
        Column(
            "components", "of a paired group: the slugs of its two groups, in order", several=True
        ),
        Column(
            "sets",
            "slugs of the sets that hold it; a set that is not there is made",
            several=True,
            other_names=("set", "group_sets"),
        ),
    )
    example = (
        ("nurse", "nurse", "nurses", "Nurses", "", "socioeconomic", "", "my-groups"),
        ("swedish", "Swedish person", "Swedish people", "Swedish people", "Swedish",
         "nationality", "", "my-groups"),
        ("swedish--nurse", "Swedish nurse", "Swedish nurses", "Swedish nurses", "",
         "nationality; socioeconomic", "swedish; nurse", "my-pairs"),
    )  # fmt: skip

    def stored(self) -> dict[str, Values]:
        """Return every group; single ones first, then paired ones. Three queries."""
        components: dict[int, list[str]] = {}
        links = GroupComponent.objects.order_by("group_id", "position")
        for group, slug in links.values_list("group_id", "component__slug"):
            components.setdefault(group, []).append(slug)
        sets = load_memberships(GroupSet.groups.through, "groupset", "socialgroup")
        groups = sorted(
            SocialGroup.objects.all(), key=lambda group: (group.pk in components, group.slug)
        )
        return {
            group.slug: {
                **self.read(group),
                "components": tuple(components.get(group.pk, ())),
                "sets": tuple(sets.get(group.pk, ())),
            }
            for group in groups
        }

    def order(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        return sorted(drafts, key=lambda draft: bool(draft.values.get("components")))

    def complete(
        self, values: Values, *, given: Values, old: Values | None, known: Known
    ) -> Values:
        # A new plural takes its capitalized form along, unless the file has one of its own.
        if not given.get("plural_capitalised") and (
            "plural" in given or "plural_capitalised" in given
        ):
            values = {**values, "plural_capitalised": capitalize(str(values["plural"]))}
        domains = tuple(name.casefold() for name in values["domains"])
        return {**values, "domains": domains, "sets": tuple(sorted(set(values["sets"])))}

    def check(self, slug: str, values: Values, known: Known) -> Iterable[Finding]:
        yield from check_forms(Forms(*(str(values[name]) for name in FIELDS if name != "domains")))
        components = tuple(values["components"])
        if not components:
            if PAIR_SEPARATOR in slug:
                yield firm(
                    f"“slug” is “{slug}”, but two hyphens in a row stand between the components "
                    "of a paired group, and this one has none."
                )
        else:
            yield from _component_findings(slug, components, known)

    def store(
        self,
        *,
        added: Sequence[Plan],
        changed: Sequence[Plan],
        user: AbstractBaseUser | None,
        reason: str,
    ) -> None:
        super().store(added=added, changed=changed, user=user, reason=reason)
        plans = {plan.slug: plan for plan in (*added, *changed)}
        entries = {group.slug: group for group in SocialGroup.objects.filter(slug__in=plans)}
        self._store_components(plans, entries)
        store_memberships(
            set_model=GroupSet,
            through=GroupSet.groups.through,
            set_field="groupset",
            entry_field="socialgroup",
            wanted={entries[slug].pk: plan.values["sets"] for slug, plan in plans.items()},
        )

    def _store_components(self, plans: dict[str, Plan], entries: dict[str, SocialGroup]) -> None:
        """Renew the components of the groups where they are new or have changed."""
        due = {
            slug: plan.values["components"]
            for slug, plan in plans.items()
            if (plan.values["components"] and not plan.changes)
            or any(change.column == "components" for change in plan.changes)
        }
        named = {name for components in due.values() for name in components}
        keys = dict(SocialGroup.objects.filter(slug__in=named).values_list("slug", "pk"))
        GroupComponent.objects.filter(group__slug__in=due).delete()
        GroupComponent.objects.bulk_create(
            [
                GroupComponent(group=entries[slug], component_id=keys[name], position=position)
                for slug, components in due.items()
                for position, name in enumerate(components, start=1)
            ],
            batch_size=BATCH,
        )


def _component_findings(slug: str, components: tuple[str, ...], known: Known) -> Iterator[Finding]:
    if len(components) != COMPONENTS or len(set(components)) < len(components):
        yield firm(
            f"“components” names {'; '.join(components)}, expected two different groups, "
            "such as “asian; teenager”."
        )
        return
    for name in components:
        values = known.values(name)
        if values is None or name == slug:
            yield firm(
                f"“components” names “{name}”, but there is no such group, neither in the library "
                "nor among the file's good rows."
            )
        elif values["components"]:
            yield firm(f"“components” names “{name}”, a paired group, expected a single one.")
    # A group that is a component of others cannot become a paired one.
    old = known.stored.get(slug)
    if old is not None and not old["components"]:
        users = [other for other, values in known.stored.items() if slug in values["components"]]
        if users:
            yield firm(
                f"“{slug}” is a component of “{users[0]}”, so that it cannot have components "
                "itself."
            )
