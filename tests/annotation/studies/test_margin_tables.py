"""Who took part beside the targets, and which numbers are kept back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from scipy.stats import binomtest

from annotation.common.target_margins import OTHERS, Margin
from annotation.instruments.us_states import STATES
from annotation.models import Study
from annotation.researcher.studies.overview import TILES, draw_tiles
from annotation.researcher.studies.target_quotas import set_margins
from annotation.studies.target_quotas import MarginTable, Participants, load_participants
from tests.annotation.studies.crowds import add_crowd
from tests.annotation.studies.people import make_study

pytestmark = pytest.mark.django_db

AREAS = Margin(shares={"Urban": 0.5, "Rural": 0.5})


@pytest.fixture
def study() -> Study:
    return make_study(quota_per_group=500)


def load(study: Study) -> Participants:
    study.refresh_from_db()
    return load_participants(study, instrument_id=study.instruments.get().pk)


def table(study: Study) -> MarginTable:
    (found,) = load(study).tables
    return found


def counts(study: Study) -> Mapping[str, int | None]:
    return {row.cell: row.observed.count if row.observed else None for row in table(study).rows}


def add(study: Study, slug: str, *given: tuple[Any, int], **values: Any) -> None:
    """Add people by answer and number; the answer is left out where it is “-”."""
    for answer, n in given:
        add_crowd(
            study,
            n,
            answers=lambda number, answer=answer: {} if answer == "-" else {slug: answer},
            **values,
        )


@pytest.mark.services
def test_shares_are_of_those_who_answered_with_wilsons_interval(study: Study) -> None:
    set_margins(study=study, margins={"area": AREAS})
    add(study, "area", ("Urban", 30), ("Rural", 10), (None, 6), ("-", 5))
    found = table(study)
    assert (found.n, found.silent) == (40, 11)
    urban, rural, others = found.rows
    assert (urban.observed.count, rural.observed.count) == (30, 10)
    expected = binomtest(30, 40).proportion_ci(confidence_level=0.95, method="wilson")
    assert (urban.observed.low, urban.observed.high) == pytest.approx(tuple(expected))
    assert (urban.target, others.cell, others.observed.count) == (0.5, OTHERS, 0)


def test_only_accepted_people_and_those_in_review_count(study: Study) -> None:
    set_margins(study=study, margins={"area": AREAS})
    add(study, "area", ("Urban", 6), ("Rural", 6))
    add(study, "area", ("Urban", 2), data_decision="accepted")
    add(study, "area", ("Urban", 7), data_decision="excluded")
    add(study, "area", ("Urban", 7), checks_passed=False)
    add(study, "area", ("Urban", 7), state="in_progress", finished_at=None)
    assert counts(study) == {"Urban": 8, "Rural": 6, OTHERS: 0}


def test_a_few_people_are_kept_back_with_what_would_tell_of_them(study: Study) -> None:
    set_margins(study=study, margins={"area": AREAS})
    # Three from the country: of 17 people all others follow, so that the smallest of them goes too.
    add(study, "area", ("Urban", 8), ("Rural", 3), ("Remote", 6))
    assert counts(study) == {"Urban": 8, "Rural": None, OTHERS: None}


def test_fewer_than_five_people_have_no_numbers_at_all(study: Study) -> None:
    set_margins(study=study, margins={"area": AREAS})
    add(study, "area", ("Urban", 4))
    assert table(study).n is None
    assert set(counts(study).values()) == {None}


def test_the_few_who_did_not_say_stay_among_all(study: Study) -> None:
    set_margins(study=study, margins={"area": AREAS})
    add(study, "area", ("Urban", 20), ("Rural", 12), (None, 1))
    found = table(study)
    assert (found.n, found.silent) == (33, None)


def test_several_answers_count_in_each_cell(study: Study) -> None:
    set_margins(study=study, margins={"gender": Margin(shares={"Man": 0.5, "Woman": 0.55})})
    add(study, "gender", (["Man"], 10), (["Woman"], 10), (["Man", "Woman"], 6))
    found = table(study)
    assert found.several
    assert [row.observed.count for row in found.rows] == [16, 16, 0]
    assert found.n == 26


def test_numbers_count_in_their_bands(study: Study) -> None:
    margin = Margin(starts=(18, 40), shares={"18 to 39": 0.5, "40 or more": 0.5})
    set_margins(study=study, margins={"age": margin})
    add(study, "age", (18, 5), (39, 2), (40, 6))
    assert counts(study) == {"18 to 39": 7, "40 or more": 6, OTHERS: 0}


def test_who_took_part_costs_three_queries_whatever_the_number(
    study: Study, django_assert_num_queries
) -> None:
    set_margins(study=study, margins={"area": AREAS})
    add(study, "area", ("Urban", 20), ("Rural", 20))
    study.refresh_from_db()
    instrument = study.instruments.get().pk
    with django_assert_num_queries(3):
        load_participants(study, instrument_id=instrument)


# --- the map --------------------------------------------------------------------------------------


def test_every_state_has_a_square_of_its_own() -> None:
    assert set(TILES) == set(STATES)
    assert len({place[1:] for place in TILES.values()}) == len(STATES) == 51
    assert len({place[0] for place in TILES.values()}) == 51


def test_states_are_shaded_by_people_and_few_are_kept_back(study: Study) -> None:
    add(study, "state", ("Texas", 40), ("Ohio", 11), ("Maine", 2), ("Utah", 7))
    states = load(study).states
    assert states is not None
    tiles = {tile.name: tile for tile in draw_tiles(states)}
    # Utah is the smallest of those that could be shown: with it, Maine would follow from the rest.
    assert (tiles["Texas"].count, tiles["Texas"].css) == ("40", "tile-4")
    assert (tiles["Ohio"].count, tiles["Ohio"].css) == ("11", "tile-2")
    for hidden in ("Maine", "Utah"):
        assert (tiles[hidden].count, tiles[hidden].css) == ("kept back", "tile-hidden")


def test_no_map_is_drawn_before_somebody_names_a_state(study: Study) -> None:
    add(study, "area", ("Urban", 6))
    assert load(study).states is None
