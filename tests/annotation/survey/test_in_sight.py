"""What participants are told before they agree, and what stays in sight while they answer."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.instruments.presets import PRESETS
from annotation.library.abc_model import TRAIT_PAIRS
from stereoscope.demo.seeding import ensure_survey

pytestmark = pytest.mark.django_db


def test_the_head_of_a_rating_page_names_the_group(make_study, make_person) -> None:
    person = make_person()
    person.start(make_study(flow=["rating"]).get_absolute_url())
    answer = person.see()
    head = answer.html.partition("<header")[2].partition("</header>")[0]
    assert answer.page.group
    assert answer.page.group in head


def test_consent_says_who_reads_the_answers_and_how_long_they_are_kept(
    make_study, make_person
) -> None:
    study = make_study(
        flow=["consent", "rating"],
        identity_days=30,
        answer_days=1,
        data_access="Ann Lee and her two assistants.",
        ethics_contact="ethics@example.org",
    )
    person = make_person()
    person.start(study.get_absolute_url())
    told = person.see().page.text
    for words in (
        "Ann Lee and her two assistants.",
        "It is erased 30 days after the study has closed.",
        "Your answers are erased 1 day after the study has closed.",
        "Questions about ethics: ethics@example.org",
    ):
        assert words in told
    other = make_person()
    other.start(make_study(flow=["consent", "rating"], identity_days=None).get_absolute_url())
    told = other.see().page.text
    assert "Your answers are kept without a time limit" in told
    assert "It is erased" not in told


@pytest.mark.parametrize("scales", [("cold-warm",), tuple(pair.slug for pair in TRAIT_PAIRS)])
def test_the_example_of_the_instructions_is_not_among_the_rated_words(
    make_study, make_person, scales
) -> None:
    person = make_person()
    person.start(make_study(flow=["instructions", "rating"], scales=scales).get_absolute_url())
    html = person.see().html
    example = html.partition('class="example-line"')[2].partition("</div>")[0]
    assert ("quiet" in example, "loud" in example) == (True, True)
    rated = {word for pair in TRAIT_PAIRS for word in (pair.low, pair.high)}
    assert not rated & {"quiet", "loud", "slow", "fast"}


def test_another_example_stands_in_where_its_words_are_rated(make_study, make_person) -> None:
    study = make_study(flow=["instructions", "rating"], launched=False)
    study.instruments.get().scales.filter(slug="cold-warm").update(low="Quiet", high="Loud")
    person = make_person()
    from annotation.studies.lifecycle import launch_study

    launch_study(study=study)
    person.start(study.get_absolute_url())
    example = person.see().html.partition('class="example-line"')[2].partition("</div>")[0]
    assert "slow" in example
    assert "uiet" not in example


def test_demo_and_presets_practice_with_words_that_are_not_rated() -> None:
    demo = ensure_survey(owner=User.objects.create_superuser("admin")).instruments.get()
    rated = {word for pair in TRAIT_PAIRS for word in (pair.low, pair.high)}
    assert not rated ^ {word for scale in demo.scales.all() for word in (scale.low, scale.high)}
    presets = (PRESETS[name].flow for name in ("cao-2022-as-printed", "short-abc"))
    for flow in (demo.flow, *presets):
        kinds = [step if isinstance(step, str) else step["kind"] for step in flow]
        assert kinds[:3] == ["consent", "instructions", "practice"]
        words = {line[side]["en"] for line in flow[2]["lines"] for side in ("left", "right")}
        assert not words & rated
        assert all(line["left"].get("es") for line in flow[2]["lines"])
