"""Every rule on made-up visits: what raises it, what does not, and what leaves it undefined."""

from __future__ import annotations

from datetime import timedelta

import pytest

from annotation.common.quality_thresholds import Thresholds
from annotation.studies.quality.assessment import RULES, assess_record
from annotation.studies.quality.flags import FlagName, Severity
from annotation.studies.quality.record import Record, Usual
from tests.annotation.studies.quality.records import START, VARIED, lines, page, visit

USUAL = Usual(page_medians={(1, step): 40.0 for step in range(5)})


def flag(record: Record, name: FlagName, usual: Usual = USUAL, **thresholds: object):
    return assess_record(record, usual, Thresholds(**thresholds)).find(name)


def reason(record: Record, name: FlagName, usual: Usual = USUAL) -> str:
    found = assess_record(record, usual, Thresholds()).undefined
    return next((one.reason for one in found if one.name == name), "")


def test_every_name_has_a_rule() -> None:
    assert set(RULES) == set(FlagName)


def test_a_careful_visit_has_no_flag() -> None:
    assessment = assess_record(visit(), USUAL, Thresholds())
    assert assessment.flags == ()
    assert assessment.undefined == ()


def test_twice_as_fast_as_usual_on_every_page_is_not_beyond_two() -> None:
    assert flag(visit([20] * 5), FlagName.SPEEDING) is None


def test_speeding_says_how_fast() -> None:
    # 40 / 16 = 2.5 on each of five pages.
    found = flag(visit([16] * 5), FlagName.SPEEDING)
    assert found is not None
    assert (found.value, found.threshold) == (pytest.approx(2.5), 2.0)
    assert found.why == "2.5 times as fast as usual, page by page (5 pages)"
    assert found.severity == Severity.WARNING


def test_a_break_does_not_hide_a_speeder() -> None:
    # Four pages at 3 (16 s would be 2.5, 13 s is 3.08, capped), one of an hour near 0: 12.01 / 5.
    assert flag(visit([13, 13, 13, 13, 3600]), FlagName.SPEEDING).value == pytest.approx(
        (4 * 3 + 40 / 3600) / 5
    )


def test_speed_counts_by_line_answered() -> None:
    # 40 s for all lines is 20 s for half of them.
    def leaving_out(seconds: float) -> Record:
        pages = tuple(page(step, seconds, answered=0.5) for step in range(5))
        return Record(START, None, pages, (lines(*VARIED[:4]),) * 5)

    assert flag(leaving_out(16), FlagName.SPEEDING) is None
    assert flag(leaving_out(8), FlagName.SPEEDING).value == pytest.approx(2.5)


def test_speed_is_undefined_among_few_people() -> None:
    assert "Fewer than 3 pages with times of 10 people" in reason(
        visit([1] * 5), FlagName.SPEEDING, Usual()
    )


def test_a_page_below_a_second_a_line_is_too_fast_to_read() -> None:
    # Eight lines in six seconds: 0.75 s a line.
    found = flag(visit([40, 6, 40]), FlagName.HURRIED_PAGE)
    assert (found.value, found.threshold) == (pytest.approx(0.75), 1.0)
    assert found.why == "1 rating page in less than 1 s a line, the fastest in 0.8 s"


def test_a_page_that_lay_in_the_background_counts_its_time_in_view() -> None:
    hidden = visit([600], pages=[lines(*VARIED)])
    in_view = page(0, 600, open_seconds=590, visible_seconds=4)
    again = page(0, 600, open_seconds=590, visible_seconds=4, restored=True)
    assert flag(hidden, FlagName.HURRIED_PAGE) is None
    assert flag(Record(START, None, (in_view,), (lines(*VARIED),)), FlagName.HURRIED_PAGE)
    # After a reload the browser knows its last view only.
    assert not flag(Record(START, None, (again,), (lines(*VARIED),)), FlagName.HURRIED_PAGE)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        pytest.param([50] * 16, True, id="all-at-one-place"),
        pytest.param([50, 51] * 8, True, id="a-trembling-hand"),
        pytest.param([10] * 12 + [90, 30, 70, 50], True, id="three-quarters-at-one-place"),
        pytest.param([*range(0, 60, 10), *[33] * 10], True, id="ten-in-a-row"),
        pytest.param([10] * 11 + [90, 30, 70, 50, 20], True, id="eleven-in-a-row"),
        pytest.param([20, 80] * 8, False, id="zigzag"),
        pytest.param([12, 80, 33, 61] * 4, False, id="varied"),
        pytest.param([50, 50, 50], None, id="too-few-lines"),
    ],
)
def test_straight_pages(places: list[int], expected: bool | None) -> None:
    record = visit([60], pages=[lines(*places)])
    assert bool(flag(record, FlagName.STRAIGHT_LINING)) is (expected is True)
    assert bool(reason(record, FlagName.STRAIGHT_LINING)) is (expected is None)


def test_straight_lining_describes_the_straightest_page() -> None:
    record = visit([60, 60], pages=[lines(*VARIED), lines(*[70] * 7, 20)])
    found = flag(record, FlagName.STRAIGHT_LINING)
    # Seven at 70 and one at 20: mean 63.75, variance (7 * 6.25² + 43.75²) / 8 = 273.4375,
    # spread 16.5.
    assert found.why == (
        "1 of 2 pages nearly straight; on the straightest 7 of 8 lines at 70, 7 in a row, "
        "spread 16.5"
    )
    assert flag(record, FlagName.STRAIGHT_LINING, straight_pages=2) is None


def test_lines_without_a_touch_are_counted() -> None:
    # Four of sixteen lines: a quarter, more than a tenth.
    record = visit(
        [60, 60], pages=[lines(*VARIED), lines(*VARIED[:4]) + lines(1, 2, 3, 4, changes=0)]
    )
    found = flag(record, FlagName.FEW_TOUCHES)
    assert found.value == pytest.approx(0.25)
    assert found.why == "4 of 16 lines answered without a touch, 0.8 changes a line"
    assert flag(record, FlagName.FEW_TOUCHES, untouched_share=0.25) is None


def test_a_browser_that_records_nothing_says_nothing() -> None:
    record = visit([60], pages=[lines(*VARIED, changes=None)])
    assert flag(record, FlagName.FEW_TOUCHES) is None
    assert reason(record, FlagName.FEW_TOUCHES) == "The browser recorded no touches"


@pytest.mark.parametrize(
    ("record", "why"),
    [
        pytest.param(
            visit(finished_at=START - timedelta(seconds=1)), "Finished before the start", id="ends"
        ),
        pytest.param(
            visit([40, -3, -1]), "2 pages sent before they were opened", id="sent-before-opened"
        ),
        pytest.param(
            Record(START, None, (page(0, 20, open_seconds=140),), ()),
            "The browser’s clock ran 120 s beyond the page’s own time",
            id="open-for-longer-than-there-was",
        ),
        pytest.param(
            Record(START, None, (page(0, 90, open_seconds=20, visible_seconds=60),), ()),
            "The browser’s clock ran 40 s beyond the page’s own time",
            id="in-view-for-longer-than-open",
        ),
    ],
)
def test_impossible_times(record: Record, why: str) -> None:
    assert flag(record, FlagName.IMPOSSIBLE_TIMES).why == why


def test_seconds_of_the_network_are_not_impossible() -> None:
    record = Record(START, None, (page(0, 20, open_seconds=24, visible_seconds=24),), ())
    assert flag(record, FlagName.IMPOSSIBLE_TIMES) is None


def test_the_same_text_in_two_submissions_is_a_copy() -> None:
    text = "i think that people answer as they were taught"
    usual = Usual(texts={text: 3, "nothing": 9})
    found = flag(visit(texts=(text,)), FlagName.COPIED_TEXT, usual)
    assert (found.value, found.why) == (2, "A text of theirs stands in 2 other submissions")
    # “nothing” has 7 letters: short answers are alike by chance.
    assert flag(visit(texts=("nothing",)), FlagName.COPIED_TEXT, usual) is None
    assert flag(visit(texts=("a text that only one person wrote",)), FlagName.COPIED_TEXT) is None


def test_pastes_and_the_hidden_field_are_counted_over_pages() -> None:
    pages = (page(0, 40, pastes=1), page(1, 40, pastes=2, filled_hidden_field=True))
    record = Record(START, None, pages, ())
    assert flag(record, FlagName.PASTED_TEXT).why == "Pasted 3 times into a text"
    assert flag(record, FlagName.PASTED_TEXT, pastes=4) is None
    assert flag(record, FlagName.HIDDEN_FIELD).why == "Filled a field that nobody sees on 1 page"
    assert flag(record, FlagName.HIDDEN_FIELD, hidden_field=False) is None


def test_identities_are_counted_and_taking_part_elsewhere_is_only_a_note() -> None:
    twice = flag(visit(same_identities=1), FlagName.SAME_IDENTITY)
    assert twice.why == "1 other submission of the study under the same id of the panel"
    elsewhere = flag(visit(other_studies=2), FlagName.OTHER_STUDIES)
    assert (elsewhere.severity, elsewhere.value) == (Severity.NOTE, 2)
    assert not assess_record(visit(other_studies=2), USUAL, Thresholds()).has_warning
    assert reason(visit(same_identities=None), FlagName.SAME_IDENTITY) == "The panel gave no id"


def test_a_threshold_that_is_left_empty_switches_its_flag_off() -> None:
    off = {
        name: False if isinstance(value, bool) else None
        for name, value in Thresholds().model_dump().items()
    }
    worst = visit(
        [1] * 5,
        pages=[lines(*[50] * 8, changes=0)] * 5,
        finished_at=START - timedelta(1),
        same_identities=3,
        other_studies=3,
    )
    assert len(assess_record(worst, USUAL, Thresholds()).flags) == 7
    assert assess_record(worst, USUAL, Thresholds(**off)).flags == ()
