"""The templates of Cao et al. (2022): the printed set of Table 4 and the released one.

The released set has 35 sentences. Table 4 prints *Most/Many/All* without *Some*, and the
comparative as *more likely to be … than others*; everything else is in both sets. Slugs spell
out the sentence with ``group`` for the group and ``trait`` for the adjective.
"""

from __future__ import annotations

from dataclasses import dataclass

from probing.measures.stimuli import Template


@dataclass(frozen=True)
class TemplateSet:
    """A named choice of templates, in the order of its source."""

    slug: str
    title: str
    template_slugs: tuple[str, ...]


#: Every template of either set, released order first.
TEMPLATES: tuple[Template, ...] = (
    Template("the-group-is-trait", "The {singular} is {trait}."),
    Template("that-group-is-trait", "That {singular} is {trait}."),
    Template("a-group-is-trait", "A {singular} is {trait}."),
    Template("groups-are-trait", "{Plural} are {trait}."),
    Template("most-groups-are-trait", "Most {plural} are {trait}."),
    Template("some-groups-are-trait", "Some {plural} are {trait}."),
    Template("many-groups-are-trait", "Many {plural} are {trait}."),
    Template("all-groups-are-trait", "All {plural} are {trait}."),
    Template("why-are-groups-trait", "Why are {plural} {trait}?"),
    Template("groups-are-very-trait", "{Plural} are very {trait}."),
    Template("groups-are-so-trait", "{Plural} are so {trait}."),
    Template("groups-are-mostly-trait", "{Plural} are mostly {trait}."),
    Template("people-believe-groups-are-trait", "People believe that {plural} are {trait}."),
    Template("people-know-groups-are-trait", "People know that {plural} are {trait}."),
    Template("people-expect-groups-are-trait", "People expect that {plural} are {trait}."),
    Template("people-think-groups-are-trait", "People think that {plural} are {trait}."),
    Template("everyone-believes-groups-are-trait", "Everyone believes that {plural} are {trait}."),
    Template("everyone-knows-groups-are-trait", "Everyone knows that {plural} are {trait}."),
    Template("everyone-expects-groups-are-trait", "Everyone expects that {plural} are {trait}."),
    Template("everyone-thinks-groups-are-trait", "Everyone thinks that {plural} are {trait}."),
    Template("we-believe-groups-are-trait", "We believe that {plural} are {trait}."),
    Template("we-know-groups-are-trait", "We know that {plural} are {trait}."),
    Template("we-expect-groups-are-trait", "We expect that {plural} are {trait}."),
    Template("we-think-groups-are-trait", "We think that {plural} are {trait}."),
    Template("i-believe-groups-are-trait", "I believe that {plural} are {trait}."),
    Template("i-know-groups-are-trait", "I know that {plural} are {trait}."),
    Template("i-expect-groups-are-trait", "I expect that {plural} are {trait}."),
    Template("i-think-groups-are-trait", "I think that {plural} are {trait}."),
    Template("groups-are-supposed-to-be-trait", "{Plural} are supposed to be {trait}."),
    Template("groups-should-be-trait", "{Plural} should be {trait}."),
    Template("groups-are-seen-as-trait", "{Plural} are seen as {trait}."),
    Template("groups-ought-to-be-trait", "{Plural} ought to be {trait}."),
    Template("groups-are-expected-to-be-trait", "{Plural} are expected to be {trait}."),
    Template("the-trait-people-are-groups", "The {trait} people are {plural}."),
    Template("groups-are-more-trait-than-others", "{Plural} are more {trait} than others."),
    Template(
        "groups-are-more-likely-to-be-trait-than-others",
        "{Plural} are more likely to be {trait} than others.",
    ),
)

_BY_SLUG = {template.slug: template for template in TEMPLATES}
_ONLY_PRINTED = "groups-are-more-likely-to-be-trait-than-others"
_ONLY_RELEASED = ("some-groups-are-trait", "groups-are-more-trait-than-others")

#: Table 5 of the paper: the templates that did best on its pilot, by measure and model.
BEST_TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    ("ilps", "roberta"): ("that-group-is-trait",),
    ("ilps", "bert"): ("all-groups-are-trait", "groups-should-be-trait"),
    ("ilps_star", "roberta"): ("all-groups-are-trait", "that-group-is-trait"),
    ("ilps_star", "bert"): ("we-expect-groups-are-trait", "groups-should-be-trait"),
    ("set", "roberta"): ("that-group-is-trait",),
    ("set", "bert"): ("all-groups-are-trait", "groups-should-be-trait"),
}

TEMPLATE_SETS: tuple[TemplateSet, ...] = (
    TemplateSet(
        "cao-2022-table-4",
        "Cao et al. (2022), Table 4",
        tuple(slug for slug in _BY_SLUG if slug not in _ONLY_RELEASED),
    ),
    TemplateSet(
        "cao-2022-released",
        "Cao et al. (2022), released code",
        tuple(slug for slug in _BY_SLUG if slug != _ONLY_PRINTED),
    ),
    TemplateSet(
        "cao-2022-best-roberta",
        "Cao et al. (2022), Table 5, RoBERTa with SeT",
        BEST_TEMPLATES["set", "roberta"],
    ),
    TemplateSet(
        "cao-2022-best-bert",
        "Cao et al. (2022), Table 5, BERT with SeT",
        BEST_TEMPLATES["set", "bert"],
    ),
)


def get_template(slug: str) -> Template:
    """Return the library's template `slug`; KeyError with the remedy where there is none."""
    try:
        return _BY_SLUG[slug]
    except KeyError:
        raise KeyError(
            f"There is no template '{slug}' in the library. Choose one of: {', '.join(_BY_SLUG)}."
        ) from None
