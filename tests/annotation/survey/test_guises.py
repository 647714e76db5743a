"""Rating the speakers of texts: which texts somebody gets, and the pages that show them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from annotation.instruments.languages.language_service import add_known_language
from annotation.models import GroupAssignment, Rating, Split, StudyGroup, Text
from annotation.studies.creation import create_guise_study
from annotation.studies.guise_ratings import list_items
from annotation.studies.lifecycle import launch_study
from annotation.studies.quotas import GroupQuota, count_quotas
from annotation.survey.group_assignment import choose_guises
from tests.annotation.survey.guises import find_shown, make_guise_study, make_pairs
from tests.annotation.survey.participants import InProcess, Person, spread
from tests.probing.runs.text_fixtures import add_pair


def new_person() -> Person:
    return Person(InProcess(), spread)


@dataclass(frozen=True)
class Place:
    """A text with how many of its places are taken."""

    item: str
    variety: str
    taken: int = 0


def choose(places: list[Place], *, wanted: int, seed: int = 1, rule: str = "hard", **known):  # type: ignore[no-untyped-def]
    quotas = [
        GroupQuota(
            group=StudyGroup(
                slug=f"{place.item}-{place.variety}", item=place.item, variety=place.variety
            ),
            wanted=2,
            accepted=place.taken,
            in_review=0,
            in_progress=0,
        )
        for place in places
    ]
    return choose_guises(quotas, wanted=wanted, rule=rule, seed=seed, **known)


PLACES = st.builds(
    Place, st.sampled_from("pqrst"), st.sampled_from(("aal", "wme", "sse")), st.integers(0, 2)
)


@given(
    places=st.lists(PLACES, max_size=12, unique_by=lambda place: (place.item, place.variety)),
    wanted=st.integers(0, 6),
    seed=st.integers(0, 99),
    met=st.frozensets(st.sampled_from("pqrst")),
    rule=st.sampled_from(("hard", "soft")),
)
def test_no_two_guises_and_as_many_texts_as_there_are_items(
    places, wanted, seed, met, rule
) -> None:
    chosen = choose(places, wanted=wanted, seed=seed, met=met, rule=rule)
    items = [text.item for text in chosen]
    assert len(set(items)) == len(items)
    assert not met & set(items)
    is_open = any(place.taken < 2 for place in places)
    offered = {p.item for p in places if p.taken < 2 or rule == "soft"} - met if is_open else set()
    assert len(items) == min(wanted, len(offered))


@given(seed=st.integers(0, 999), wanted=st.integers(1, 8), varieties=st.integers(2, 4))
def test_everybody_gets_each_variety_alike(seed, wanted, varieties) -> None:
    names = ("aal", "wme", "sse", "cke")[:varieties]
    places = [Place(item, name) for item in "abcdefgh" for name in names]
    chosen = Counter(text.variety for text in choose(places, wanted=wanted, seed=seed))
    counts = [chosen[name] for name in names]
    assert sum(counts) == wanted
    assert max(counts) - min(counts) <= 1


def test_the_text_with_most_open_places_comes_first() -> None:
    places = [Place(item, variety, 1) for item in "abc" for variety in ("aal", "wme")]
    places[2] = Place("b", "aal", 0)
    for seed in range(20):
        assert ("b", "aal") in {
            (text.item, text.variety) for text in choose(places, wanted=2, seed=seed)
        }


@pytest.mark.django_db
def test_pairs_that_share_a_text_are_one_item() -> None:
    corpus = make_pairs(2)
    add_pair(corpus, "p3", ("He be gone.", "She usually cooks every day."))
    add_pair(corpus, "t1", ("Not for people.", "Nor this."), split=Split.TRAINING)
    items = {
        name: sorted(text.slug for text in texts) for name, texts in list_items(corpus).items()
    }
    assert items == {"p1": ["p1-aal", "p1-wme", "p3-aal"], "p2": ["p2-aal", "p2-wme"]}


@pytest.mark.django_db
def test_pairs_are_drawn_once_and_for_all() -> None:
    corpus = make_pairs(8)
    known = {"title": "t", "owner": None, "contact_email": "a@example.org", "corpus": corpus}
    study = create_guise_study(**known, n_pairs=6, public_id="abcdefghijk2")
    texts = study.instruments.get().groups.all()
    assert len(texts) == 12
    assert Counter(text.variety for text in texts) == {"AAL": 6, "WME": 6}
    body = Text.objects.get(corpus=corpus, slug=texts[0].slug).body
    assert (texts[0].body, texts[0].singular) == (body, f"{texts[0].variety}: {body}")
    # Of the same study the same pairs, of another one others.
    drawn = {text.item for text in texts}
    study.delete()
    again = create_guise_study(**known, n_pairs=6, public_id="abcdefghijk2")
    assert {text.item for text in again.instruments.get().groups.all()} == drawn
    others = [
        frozenset(
            create_guise_study(**known, n_pairs=6)
            .instruments.get()
            .groups.values_list("item", flat=True)
        )
        for _ in range(5)
    ]
    assert {frozenset(drawn)} != set(others)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("pairs", "n_pairs", "said"),
    [
        (0, None, "has no text pairs"),
        (4, 5, "5 pairs are to be drawn, expected 1 to 4"),
        (4, 0, "0 pairs"),
    ],
)
def test_a_corpus_without_enough_pairs_is_refused(
    pairs: int, n_pairs: int | None, said: str
) -> None:
    from annotation.models import Study

    with pytest.raises(ValidationError, match=said):
        create_guise_study(
            title="t",
            owner=None,
            contact_email="a@example.org",
            corpus=make_pairs(pairs),
            n_pairs=n_pairs,
        )
    assert not Study.objects.exists()


@pytest.mark.django_db
def test_the_default_flow_is_ready_in_english_and_spanish() -> None:
    study = make_guise_study(
        make_pairs(8), launched=False, flow=None, instrument_options={"pole_sides": "fixed"}
    )
    instrument = study.instruments.get()
    add_known_language(instrument=instrument, language="es")
    instrument.wordings.create(language="es", key="study.title", text="¿Quién escribió esto?")
    launch_study(study=study)  # raises where anything is missing
    person = new_person()
    link = f"{study.get_absolute_url()}?language=es"
    assert "Start" not in person.connection.get(link).html
    assert person.start(link).status == 302
    kinds = [
        step if isinstance(step, str) else step["kind"] for step in study.instruments.get().flow
    ]
    seen = []
    while (page := person.see().page).fields.get("step"):
        seen.append(page.heading)
        sent = person.fill(page)
        if "choice" in page.inputs:
            sent["choice"] = "somewhat-disagree"
        sent |= dict.fromkeys((name for name in sent if name.startswith("value-")), "90")
        if "near" in page.options:
            sent["near"] = next(key for key in page.options["near"] if key.endswith(":high"))
            sent["far"] = next(key for key in page.options["far"] if key.endswith(":low"))
        assert person.connection.post(page.action, sent).status == 302
    assert len(seen) == len(kinds)
    assert seen[2] == "¿Cómo es la persona que escribió esto?"
    submission = study.submissions.get()
    assert (submission.outcome, submission.checks_passed) == ("completed", True)
    given = submission.assignments.filter(is_repeat=False).values_list("group__variety", flat=True)
    assert Counter(given) == {"AAL": 3, "WME": 3}
    assert "6" in page.text
    # Their own page says of each text what they answered about its writer.
    own = person.connection.get(person.path.replace("/r/", "/w/"))
    assert all(
        text.group.body in own.html for text in submission.assignments.select_related("group")
    )


@pytest.mark.django_db
def test_a_page_shows_its_text_and_asks_about_its_writer() -> None:
    study = make_guise_study()
    person = new_person()
    person.start(study.get_absolute_url())
    person.send(person.see().page)
    texts = {text.slug: text for text in Text.objects.all()}
    for number in (1, 2, 3):
        page = person.see().page
        given = study.submissions.get().assignments.get(position=number)
        assert find_shown(page.text, texts) == given.group.slug
        assert page.heading == "What is the person who wrote this like?"
        assert f"Text {number} of 3" in page.text
        assert "Somebody wrote this" in page.text
        assert given.group.variety not in page.text
        person.send(page)
    stored = Rating.objects.filter(assignment__submission__study=study)
    assert stored.count() == 6
    assert "You rated the writers of 3 texts on 6 lines." in person.see().page.text


@pytest.mark.django_db
def test_the_database_refuses_a_second_guise() -> None:
    study = make_guise_study()
    new_person().start(study.get_absolute_url())
    first = study.submissions.get().assignments.first()
    other = study.instruments.get().groups.exclude(pk=first.group_id).get(item=first.item)
    with pytest.raises(IntegrityError), transaction.atomic():
        GroupAssignment.objects.create(
            submission=first.submission, group=other, position=9, item=other.item
        )


@pytest.mark.django_db
def test_places_fill_evenly_over_guises_and_pairs() -> None:
    study = make_guise_study(quota_per_group=3)
    for _ in range(4):
        assert new_person().start(study.get_absolute_url()).status == 302
    taken = [quota.taken for quota in count_quotas(study, instrument=study.instruments.get())]
    assert sum(taken) == 12
    assert set(taken) == {1, 2}  # 12 places in 8 texts
    given = GroupAssignment.objects.filter(submission__study=study)
    assert Counter(given.values_list("group__variety", flat=True)) == {"AAL": 6, "WME": 6}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (["rating"] * 5, "texts of 4 pairs, expected at least 5"),
        (["rating", "group_name"], "Step 2 asks for the group just rated"),
    ],
)
def test_what_keeps_a_study_of_texts_from_its_launch(flow: list[str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        make_guise_study(flow=flow)


@pytest.mark.django_db
def test_a_pair_without_its_other_guise_keeps_it_from_its_launch() -> None:
    study = make_guise_study(launched=False)
    study.instruments.get().groups.get(slug="p2-wme").delete()
    with pytest.raises(ValidationError, match=r"one text left.*p2"):
        launch_study(study=study)
