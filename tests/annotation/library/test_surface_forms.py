"""A group's forms: what is proposed from a singular, what is refused, what is remarked on."""

from __future__ import annotations

import pytest

from annotation.library.abc_model import ALL_GROUPS
from annotation.library.english_forms import Forms, check_forms, propose_forms
from annotation.library.paired_groups import pair_groups


@pytest.mark.parametrize(
    ("singular", "plural", "capitalized", "modifier"),
    [
        ("nurse", "nurses", "Nurses", ""),
        ("elderly person", "elderly people", "Elderly people", "elderly"),
        ("Asian person", "Asian people", "Asian people", "Asian"),
        ("person with a disability", "people with a disability", "People with a disability", ""),
        ("woman", "women", "Women", ""),
        ("policeman", "policemen", "Policemen", ""),
        ("German", "Germans", "Germans", ""),
        ("human", "humans", "Humans", ""),
        ("Black woman", "Black women", "Black women", ""),
        ("lady", "ladies", "Ladies", ""),
        ("party boy", "party boys", "Party boys", ""),
        ("boss", "bosses", "Bosses", ""),
        ("coach", "coaches", "Coaches", ""),
        ("child", "children", "Children", ""),
        ("passer-by", "passers-by", "Passers-by", ""),
        ("Chinese", "Chinese", "Chinese", ""),
        ("person from Ohio", "people from Ohio", "People from Ohio", ""),
        ("NBA player", "NBA players", "NBA players", ""),
        ("  stay-at-home   parent ", "stay-at-home parents", "Stay-at-home parents", ""),
    ],
)
def test_forms_are_proposed_from_the_singular(
    singular: str, plural: str, capitalized: str, modifier: str
) -> None:
    proposed = propose_forms(singular)
    assert proposed == Forms(" ".join(singular.split()), plural, capitalized, modifier)
    assert not check_forms(proposed)


@pytest.mark.parametrize(
    ("forms", "field", "message"),
    [
        (("", "nurses", "Nurses"), "singular", "The singular is missing"),
        (("nurse", " ", "Nurses"), "plural", "such as “nurses”"),
        (("nurse", "nurses", ""), "plural_capitalised", "such as “Nurses”"),
        (("people", "people", "People"), "singular", "“people” is a plural, expected a singular"),
        (("women", "women", "Women"), "singular", "“women” is a plural"),
        (("elderly person", "elderly person", "Elderly person"), "plural", "is a singular"),
        (("woman", "woman", "Woman"), "plural", "expected a plural, such as “women”"),
        (("nurse", "nurses", "nurses"), "plural_capitalised", "capital first letter, “Nurses”"),
        (("nurse", "nurses", "Doctors"), "plural_capitalised", "expected the plural with"),
        (("asian person", "Asian people", "Asian people"), "singular", "“Asian”"),
        (("Jewish person", "jewish people", "Jewish people"), "plural", "“Jewish”"),
        (("american", "Americans", "Americans"), "singular", "“American”"),
        (("person with an job", "people with a job", "People with a job"), "singular", "“a job”"),
        (("a nurse", "nurses", "Nurses"), "singular", "begins with an article"),
        (("nurse ", "nurses", "Nurses"), "singular", "spaces at an end"),
        (("{nurse}", "nurses", "Nurses"), "singular", "bracket"),
    ],
)
def test_what_is_certainly_wrong_is_an_error_at_its_field(
    forms: tuple[str, str, str], field: str, message: str
) -> None:
    found = [finding for finding in check_forms(Forms(*forms)) if finding.certain]
    assert any(finding.field == field and message in finding.message for finding in found), found


@pytest.mark.parametrize(
    ("forms", "message", "sentence"),
    [
        (("nurse", "nurse", "Nurse"), "the same as the singular", "All nurse are …"),
        (("nurse", "doctors", "Doctors"), "the usual one is “nurses”", "All doctors are …"),
        (("Elderly person", "elderly people", "Elderly people"), "“Elderly”", "That Elderly"),
        (("democrat", "democrats", "Democrats"), "as a name, “Democrat”", "That democrat is …"),
        (("polish person", "Polish people", "Polish people"), "“Polish”", "That polish person"),
        (("wealthy person", "the rich", "The rich"), "the usual one is", "All the rich are …"),
    ],
)
def test_what_may_be_wrong_is_a_remark_with_its_sentence(
    forms: tuple[str, str, str], message: str, sentence: str
) -> None:
    found = check_forms(Forms(*forms))
    assert not [finding for finding in found if finding.certain]
    assert any(message in f.message and sentence in f.sentence for f in found), found


@pytest.mark.parametrize(
    "forms",
    [
        ("Deaf person", "Deaf people", "Deaf people"),
        ("deaf person", "deaf people", "Deaf people"),
        ("disabled person", "disabled persons", "Disabled persons"),
        ("Sioux", "Sioux", "Sioux"),
        ("iPhone user", "iPhone users", "iPhone users"),
        ("iPhone user", "iPhone users", "IPhone users"),
        ("person with a disability", "people with disabilities", "People with disabilities"),
    ],
)
def test_what_is_right_in_its_own_way_passes(forms: tuple[str, str, str]) -> None:
    assert not [f for f in check_forms(Forms(*forms)) if f.certain]


def test_no_group_of_the_library_and_no_pair_of_them_is_remarked_on() -> None:
    groups = [*ALL_GROUPS, *pair_groups(entry for entry in ALL_GROUPS if entry.domains)]
    assert len(groups) > 2500
    found = {
        entry.slug: [str(finding) for finding in findings]
        for entry in groups
        if (
            findings := check_forms(
                Forms(
                    entry.singular,
                    entry.plural,
                    entry.plural_capitalised,
                    getattr(entry, "modifier", ""),
                )
            )
        )
    }
    assert not found
