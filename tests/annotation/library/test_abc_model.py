"""The library against the tables of Cao et al. (2022), typed by hand from the paper."""

from __future__ import annotations

import pytest

from annotation.library.abc_model import TRAIT_PAIRS
from annotation.models import GroupSet, SocialGroup, TraitPair

# Table 3. Those in italics, the human study, are marked with a star.
TABLE_3 = {
    "gender": "*man *woman *non-binary *trans *cis gay lesbian",
    "race": "*Black *White *Hispanic *Asian *Native_American",
    "religion": (
        "*Jewish *Muslim *Christian *Buddhist *Mormon Catholic Amish Protestant Atheist Hindu"
    ),
    "socioeconomic": (
        "*wealthy *working_class *immigrant *veteran *unemployed refugee doctor mechanic"
    ),
    "age": "*teenager *elderly",
    "disability": "*blind *autistic *neurodivergent Deaf person_with_a_disability",
    "politics": "Democrat Republican",
    "nationality": (
        "Mexican Chinese Russian Indian Irish Cuban Italian Japanese German French British "
        "Jamaican American Filipino"
    ),
}
# Table A7: pole, its further adjectives.
TABLE_A7 = """
powerful: forceful, formidable, capable
powerless: weak, helpless, incapable
high-status: privileged, elite, advantaged
low-status: unskilled, lowly, inferior
dominant: commanding, authoritative
dominated: subservient, submissive, deferential
wealthy: affluent, rich, prosperous
poor: impoverished, destitute, needy
confident: self-assured, assured, self-possessed
unconfident: bashful, meek, timid
competitive: ambitious, driven, zealous
unassertive: submissive, diffident, passive
modern: radical, forward-looking
traditional: old-fashioned
science-oriented: analytical, logical, atheistic
religious: devout, pious, reverent
alternative: unorthodox, avant-garde, eccentric
conventional: mainstream
liberal: left-wing, Democrat, progressive
conservative: right-wing, Republican
trustworthy: reliable, dependable, truthful
untrustworthy: unreliable, undependable
sincere: genuine, forthright, honest
dishonest: insincere, deceitful
warm: friendly, kind, loving
cold: unfriendly, unkind, aloof
benevolent: considerate, generous
threatening: intimidating, menacing, frightening
likable: pleasant, amiable, lovable
repellent: vile, loathsome, nasty
altruistic: helpful, charitable, selfless
egotistic: selfish, self-centered, insensitive
"""
# Table 1, poles from 0 to 100 as in the published data.
TABLE_1 = {
    "agency": [
        "powerless-powerful", "low-status-high-status", "dominated-dominant", "poor-wealthy",
        "unconfident-confident", "unassertive-competitive",
    ],
    "beliefs": [
        "traditional-modern", "religious-science-oriented", "conventional-alternative",
        "conservative-liberal",
    ],
    "communion": [
        "untrustworthy-trustworthy", "dishonest-sincere", "cold-warm", "threatening-benevolent",
        "repellent-likable", "egotistic-altruistic",
    ],
}  # fmt: skip


def printed(domain: str) -> list[str]:
    return [name.replace("_", " ") for name in TABLE_3[domain].split()]


@pytest.mark.django_db
@pytest.mark.parametrize("domain", TABLE_3)
def test_a_domain_holds_exactly_the_groups_that_table_3_prints(domain: str) -> None:
    found = {
        # “gay person” and “lesbian” alike begin with the word that the table prints.
        group.singular.removesuffix(" person").casefold()
        for group in GroupSet.objects.get(slug="cao-2022-table-3").groups.all()
        if group.domains == [domain]
    }
    assert found == {name.lstrip("*").casefold() for name in printed(domain)}


@pytest.mark.django_db
def test_the_human_study_has_the_groups_in_italics() -> None:
    starred = {
        name.lstrip("*").casefold()
        for domain in TABLE_3
        for name in printed(domain)
        if name.startswith("*")
    }
    groups = GroupSet.objects.get(slug="cao-2022-human-study").groups.all()
    assert len(starred) == len(groups) == 25
    assert {group.singular.removesuffix(" person").casefold() for group in groups} == starred


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("slug", "forms"),
    [
        ("elderly", ("elderly person", "elderly people", "Elderly people")),
        ("man", ("man", "men", "Men")),
        ("native-american", ("Native American", "Native Americans", "Native Americans")),
        (
            "person-with-a-disability",
            ("person with a disability", "people with a disability", "People with a disability"),
        ),
        ("working-class", ("working class person", "working class people", "Working class people")),
        ("deaf", ("Deaf person", "Deaf people", "Deaf people")),
        ("gay-man", ("gay man", "gay men", "Gay men")),
    ],
)
def test_surface_forms_fit_their_slots(slug: str, forms: tuple[str, str, str]) -> None:
    group = SocialGroup.objects.get(slug=slug)
    assert (group.singular, group.plural, group.plural_capitalised) == forms


@pytest.mark.django_db
def test_trait_pairs_are_the_16_of_table_1_in_their_dimensions() -> None:
    found = {
        dimension: list(
            TraitPair.objects.filter(dimension=dimension).values_list("slug", flat=True)
        )
        for dimension in TABLE_1
    }
    assert found == TABLE_1
    assert TraitPair.objects.count() == 16


def test_every_pole_has_the_adjectives_of_table_a7() -> None:
    expected = {}
    for line in TABLE_A7.split("\n"):
        if line:
            pole, _, words = line.partition(": ")
            expected[pole] = tuple(words.split(", "))
    found = {}
    for pair in TRAIT_PAIRS:
        found |= {pair.low: pair.low_synonyms, pair.high: pair.high_synonyms}
    assert len(expected) == 32
    assert found == expected
    # 35 for agency, 18 for beliefs, 33 for communion; “submissive” stands for two poles.
    assert sum(map(len, expected.values())) == 86
