"""The rule for “which group did you just rate?”, over the 25 groups of Cao et al. (2022)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.instruments.checks import names_group
from annotation.library.abc_model import HUMAN_STUDY_GROUPS, GroupEntry

groups = st.sampled_from(HUMAN_STUDY_GROUPS)


def forms(entry: GroupEntry) -> tuple[str, str, str]:
    return entry.singular, entry.plural, entry.plural_capitalised


def others(entry: GroupEntry) -> list[tuple[str, str, str]]:
    return [forms(other) for other in HUMAN_STUDY_GROUPS if other is not entry]


def entry(slug: str) -> GroupEntry:
    return next(group for group in HUMAN_STUDY_GROUPS if group.slug == slug)


@pytest.mark.parametrize(
    ("slug", "answer"),
    [
        ("elderly", "elderly people"),
        ("elderly", "Elderly"),
        ("elderly", "the elderly"),
        ("elderly", "an ELDERLY person"),
        ("elderly", "eldery"),  # a letter left out
        ("elderly", "eldelry people"),  # two letters changed places
        ("elderly", "elderly poeple"),
        ("elderly", "elderly peop"),
        ("woman", "women"),
        ("woman", "a woman"),
        ("man", "MEN"),
        ("non-binary", "nonbinary people"),
        ("non-binary", "Non Binary"),
        ("working-class", "working-class folks"),
        ("native-american", "native american"),
        ("immigrant", "imigrants"),
        ("veteran", "vetrans"),
        ("cis", "cis"),
    ],
)
def test_answer_in_other_words_of_the_same_name_passes(slug: str, answer: str) -> None:
    assert names_group(answer, forms(entry(slug)), others=others(entry(slug)))


@pytest.mark.parametrize(
    ("slug", "answer"),
    [
        ("elderly", ""),
        ("elderly", "people"),
        ("elderly", "the"),
        ("elderly", "I do not know"),
        ("elderly", "young people"),
        ("man", "woman"),
        ("woman", "man"),
        ("man", "men and women"),
        ("cis", "trans"),
        ("white", "non-white people"),
        ("blind", "kind"),
        ("mormon", "muslim people"),
        ("asian", "🙂"),
    ],
)
def test_answer_that_names_no_group_or_another_one_fails(slug: str, answer: str) -> None:
    assert not names_group(answer, forms(entry(slug)), others=others(entry(slug)))


@given(
    groups,
    st.sampled_from(["{}", "the {}", "  {} ", "{}!", "“{}”", "a {}"]),
    st.sampled_from([str.upper, str.lower, str.title, str.swapcase]),
    st.integers(0, 2),
)
def test_case_articles_and_punctuation_never_matter(group, frame, case, form) -> None:
    answer = frame.format(case(forms(group)[form]))
    assert names_group(answer, forms(group), others=others(group))


@given(groups, groups, st.integers(0, 2))
def test_no_group_of_the_study_passes_for_another(rated, named, form) -> None:
    answer = forms(named)[form]
    assert names_group(answer, forms(rated), others=others(rated)) == (rated is named)


@given(groups, st.data())
def test_one_wrong_letter_in_a_name_of_five_letters_or_more_is_forgiven(group, data) -> None:
    name = group.singular.removesuffix(" person")
    if len(name) < 5:
        return
    place = data.draw(st.integers(0, len(name) - 1))
    answer = name[:place] + "q" + name[place + 1 :]
    assert names_group(answer, forms(group), others=others(group))


@given(groups, st.text(max_size=200))
def test_any_text_gets_an_answer(group, text) -> None:
    assert names_group(text, forms(group), others=others(group)) in {True, False}


def test_answer_closer_to_another_group_names_that_one() -> None:
    # One letter apart: each name would pass for a misspelling of the other.
    rated, other = ("woman", "women", "Women"), ("moman", "momans", "Momans")
    assert names_group("woman", rated, others=[other])
    assert not names_group("moman", rated, others=[other])
