"""The lists of words near and far, built from one page's ratings. Expected values by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotation.instruments.checks import MarkedRating, TraitChoices, build_trait_choices
from annotation.library.abc_model import TRAIT_PAIRS

HIGH_FROM, LOW_TO = 60, 40


def page(**values: float) -> list[MarkedRating]:
    """Ratings by scale; a scale is written low_high."""
    return [
        MarkedRating(name.replace("_", "-"), *name.split("_"), value)
        for name, value in values.items()
    ]


def build(ratings: list[MarkedRating], seed: int = 1) -> TraitChoices | None:
    return build_trait_choices(ratings, high_from=HIGH_FROM, low_to=LOW_TO, seed=seed)


def keys(options) -> set[str]:
    return {option.key for option in options}


def test_strongest_marks_are_the_right_words() -> None:
    # Distances from 50: warm 45, poor 40, modern 15, powerful 12.
    choices = build(page(cold_warm=95, poor_wealthy=10, traditional_modern=65, weak_strong=62))
    assert choices is not None
    assert choices.right_near == {"cold-warm:high"}
    # Placed at 10, so near “poor” and far from “wealthy”.
    assert choices.right_far == {"poor-wealthy:high"}


def test_wrong_words_are_the_opposite_of_what_was_marked() -> None:
    choices = build(page(cold_warm=95, poor_wealthy=10, traditional_modern=65, weak_strong=62))
    assert choices is not None
    assert keys(choices.near) == {"cold-warm:high", "traditional-modern:low"}
    assert keys(choices.far) == {"poor-wealthy:high", "weak-strong:high"}


def test_middle_ratings_fill_up_the_lists() -> None:
    choices = build(page(cold_warm=95, poor_wealthy=10, traditional_modern=55, weak_strong=45))
    assert choices is not None
    # Each list gets one middle scale. 55 leans to “modern”, so that “traditional” is wrong as near
    # and “modern” is wrong as far; 45 leans to “weak”.
    (wrong_near,) = keys(choices.near) - choices.right_near
    (wrong_far,) = keys(choices.far) - choices.right_far
    assert (wrong_near, wrong_far) in {
        ("traditional-modern:low", "weak-strong:low"),
        ("weak-strong:high", "traditional-modern:high"),
    }


def test_thresholds_themselves_count_as_marked() -> None:
    assert build(page(cold_warm=60)) is not None
    assert build(page(cold_warm=40)) is not None
    assert build(page(cold_warm=59, poor_wealthy=41)) is None


def test_page_in_the_middle_leaves_nothing_to_ask() -> None:
    assert build(page(cold_warm=50, poor_wealthy=50)) is None
    assert build([]) is None


def test_single_mark_serves_both_lists() -> None:
    choices = build(page(cold_warm=90))
    assert choices is not None
    assert choices.right_near == {"cold-warm:high"}
    assert choices.right_far == {"cold-warm:low"}
    assert keys(choices.near) == keys(choices.far) == {"cold-warm:low", "cold-warm:high"}


def test_only_both_right_words_together_pass() -> None:
    choices = build(page(cold_warm=95, poor_wealthy=10, traditional_modern=65, weak_strong=62))
    assert choices is not None
    assert choices.is_passed_by(near="cold-warm:high", far="poor-wealthy:high")
    assert not choices.is_passed_by(near="cold-warm:high", far="weak-strong:high")
    assert not choices.is_passed_by(near="poor-wealthy:high", far="poor-wealthy:high")


@given(
    st.lists(st.integers(0, 100), min_size=len(TRAIT_PAIRS), max_size=len(TRAIT_PAIRS)),
    st.integers(0, 2**31 - 1),
)
def test_every_page_of_sixteen_scales_has_one_right_word_a_list_or_is_not_asked(
    values, seed
) -> None:
    ratings = [
        MarkedRating(pair.slug, pair.low, pair.high, value)
        for pair, value in zip(TRAIT_PAIRS, values, strict=True)
    ]
    by_slug = {rating.slug: rating.value for rating in ratings}
    choices = build(ratings, seed)
    if all(LOW_TO < value < HIGH_FROM for value in values):
        assert choices is None
        return
    assert choices is not None
    assert build(list(reversed(ratings)), seed) == choices  # the order of the rows is no matter

    def is_near(key: str) -> bool:
        scale, pole = key.rsplit(":", 1)
        return by_slug[scale] >= HIGH_FROM if pole == "high" else by_slug[scale] <= LOW_TO

    def is_far(key: str) -> bool:
        scale, pole = key.rsplit(":", 1)
        return is_near(f"{scale}:{'low' if pole == 'high' else 'high'}")

    assert {key for key in keys(choices.near) if is_near(key)} == choices.right_near
    assert {key for key in keys(choices.far) if is_far(key)} == choices.right_far
    assert len(choices.right_near) == len(choices.right_far) == 1
    assert 2 <= len(choices.near) <= 4
    assert 2 <= len(choices.far) <= 4
    n_marked = sum(not LOW_TO < value < HIGH_FROM for value in values)
    if n_marked > 1:
        scales = [option.key.rsplit(":", 1)[0] for option in (*choices.near, *choices.far)]
        assert len(set(scales)) == len(scales)
