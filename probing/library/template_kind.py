"""Templates as rows of a file: the sentence with its slots, and its sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import AbstractBaseUser

from annotation.library.english_forms import Finding
from annotation.library.library_kind import Column, Known, LibraryKind, Plan, Values
from annotation.library.membership import load_memberships, store_memberships
from probing.library.sentences import check_template
from probing.models import Template, TemplateSet

BATCH = 500


class TemplateKind(LibraryKind):
    """Templates; their text says which surface form of a group they need."""

    name = "templates"
    noun = "template"
    plural = "templates"
    model = Template
    fields = ("text",)
    set_model = TemplateSet
    columns = (
        Column("slug", "the name that scores refer to, such as that-group-is-trait", needed=True),
        Column(
            "text",
            "one sentence with {singular}, {plural} or {Plural} for the group and {trait} for the "
            "adjective",
            needed=True,
        ),
        Column(
            "sets",
            "slugs of the sets that hold it; a set that is not there is made",
            several=True,
            other_names=("set", "template_sets"),
        ),
    )
    example = (
        ("every-group-seems-trait", "Every {singular} seems {trait}.", "my-templates"),
        ("few-groups-are-trait", "Few {plural} are {trait}.", "my-templates"),
        ("groups-can-be-trait", "{Plural} can be {trait}.", "my-templates"),
    )

    def stored(self) -> dict[str, Values]:
        """Return every template. Two queries."""
        sets = load_memberships(TemplateSet.templates.through, "templateset", "template")
        return {
            entry.slug: {"text": entry.text, "sets": tuple(sets.get(entry.pk, ()))}
            for entry in Template.objects.all()
        }

    def complete(
        self, values: Values, *, given: Values, old: Values | None, known: Known
    ) -> Values:
        return {**values, "sets": tuple(sorted(set(values["sets"])))}

    def build(self, slug: str, values: Values) -> Template:
        return Template(slug=slug, text=str(values["text"]))

    def check(self, slug: str, values: Values, known: Known) -> Iterable[Finding]:
        text = str(values["text"])
        same = next(
            (
                other
                for other in (*known.planned, *known.stored)
                if other != slug and (known.values(other) or {}).get("text") == text
            ),
            None,
        )
        if same is not None:
            message = f"“{text}” is the text of “{same}” already, expected another one."
            yield Finding(True, message, "text", firm=True)
        yield from check_template(text)

    def store(
        self,
        *,
        added: Sequence[Plan],
        changed: Sequence[Plan],
        user: AbstractBaseUser | None,
        reason: str,
    ) -> None:
        plans = {plan.slug: plan for plan in (*added, *changed)}
        reworded = [p.slug for p in changed if any(c.column == "text" for c in p.changes)]
        # Two entries may exchange their texts, and no two ever have the same one.
        for entry in Template.objects.filter(slug__in=reworded):
            Template.objects.filter(pk=entry.pk).update(text=f"{{{entry.pk}}}")
        super().store(added=(), changed=changed, user=user, reason=reason)
        super().store(added=added, changed=(), user=user, reason=reason)
        keys = dict(Template.objects.filter(slug__in=plans).values_list("slug", "pk"))
        store_memberships(
            set_model=TemplateSet,
            through=TemplateSet.templates.through,
            set_field="templateset",
            entry_field="template",
            wanted={keys[slug]: plan.values["sets"] for slug, plan in plans.items()},
        )
