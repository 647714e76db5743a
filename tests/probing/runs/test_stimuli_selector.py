"""Stimuli are named by slugs of entries or of sets."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import SocialGroup
from probing.runs.errors import RunError
from probing.runs.stimuli import load_stimuli

pytestmark = pytest.mark.django_db


def test_a_set_stands_for_its_entries(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(5):
        stimuli = load_stimuli(groups="cao-2022-human-study", templates="cao-2022-released")
    # Cao et al. (2022): 25 groups in the human study, 16 trait pairs, 35 released templates.
    assert len(stimuli.groups) == 25
    assert len(stimuli.traits) == 16
    assert len(stimuli.templates) == 35
    assert stimuli.traits[0].low == "powerless"
    assert stimuli.traits[-1].high == "altruistic"


def test_names_are_united_in_their_order_without_repetition() -> None:
    stimuli = load_stimuli(
        groups=["woman", "man", "woman"],
        templates=["all-groups-are-trait", "cao-2022-best-bert", "that-group-is-trait"],
        traits=["cold-warm"],
    )
    assert [group.slug for group in stimuli.groups] == ["woman", "man"]
    # Table 5: the best two templates of SeT with BERT are “All …” and “… should be …”.
    assert [template.slug for template in stimuli.templates] == [
        "all-groups-are-trait",
        "groups-should-be-trait",
        "that-group-is-trait",
    ]
    assert [trait.slug for trait in stimuli.traits] == ["cold-warm"]


@pytest.mark.parametrize(
    ("changes", "where", "name"),
    [
        ({"groups": ["man", "womn"]}, "groups", "womn"),
        ({"groups": "atlantis"}, "groups", "atlantis"),
        ({"templates": ["nope"]}, "templates", "nope"),
        ({"traits": ["cold-hot"]}, "traits", "cold-hot"),
        ({"groups": []}, "groups", "at least one"),
        ({"traits": []}, "traits", "at least one"),
    ],
)
def test_unknown_or_missing_names_are_refused_where_they_were_given(
    changes: dict[str, Any], where: str, name: str
) -> None:
    request: dict[str, Any] = {"groups": ["man"], "templates": ["that-group-is-trait"]}
    with pytest.raises(RunError) as caught:
        load_stimuli(**{**request, **changes})
    assert [problem.where for problem in caught.value.problems] == [where]
    assert name in str(caught.value)


def test_near_names_are_suggested() -> None:
    with pytest.raises(RunError, match="woman"):
        load_stimuli(groups=["womn"], templates=["that-group-is-trait"])


def test_a_group_without_the_form_that_a_template_needs_is_named_with_both() -> None:
    """The pages take no such group, but a row may come into the database round them."""
    SocialGroup.objects.filter(slug="man").update(singular=" ")
    with pytest.raises(RunError) as caught:
        load_stimuli(groups=["woman", "man"], templates=["that-group-is-trait"])
    assert [(problem.where, problem.fatal) for problem in caught.value.problems] == [
        ("groups", True)
    ]
    assert "“man” has no singular, which the template “That {singular} is {trait}.” needs" in str(
        caught.value
    )
