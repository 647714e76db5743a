"""What the parser accepts and how it names what it does not. No database here."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.imports.abc_file import AbcFileError, build_vocabulary, parse_abc_file
from annotation.library import abc_model

VOCABULARY = build_vocabulary(
    [
        (group.slug, (group.singular, group.plural, group.plural_capitalised))
        for group in (*abc_model.HUMAN_STUDY_GROUPS, *abc_model.OTHER_GROUPS)
    ],
    [(pair.slug, pair.low, pair.high) for pair in abc_model.TRAIT_PAIRS],
)


def parse(text: str | bytes):
    content = text if isinstance(text, bytes) else text.encode()
    return parse_abc_file(content, VOCABULARY)


def messages(data: object) -> list[str]:
    return [str(problem) for problem in parse(json.dumps(data)).problems]


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Blacks/African Americans", "black"),
        ("Black people", "black"),
        ("transgender people", "trans"),
        ("trans people", "trans"),
        ("average people", "average"),
        ("working class people", "working-class"),
        ("working-class people", "working-class"),
        ("Native Americans", "native-american"),
        ("  women ", "woman"),
    ],
)
def test_spellings_of_groups_map_to_slugs(name: str, slug: str) -> None:
    assert parse(json.dumps({"a": {name: {"cold - warm": "1"}}})).rows[0].group == slug


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("egoistic - altruistic", "egotistic-altruistic"),
        ("egotistic - altruistic", "egotistic-altruistic"),
        ("low status - high status", "low-status-high-status"),
        ("low-status – high-status", "low-status-high-status"),
        ("dominated - dominating", "dominated-dominant"),
        ("religious - science-oriented", "religious-science-oriented"),
    ],
)
def test_spellings_of_trait_pairs_map_to_slugs(name: str, slug: str) -> None:
    assert parse(json.dumps({"a": {"women": {name: "1"}}})).rows[0].scale == slug


@pytest.mark.parametrize(
    ("written", "value"),
    [("0", 0.0), ("100", 100.0), ("49.5", 49.5), (" 7 ", 7.0), (12, 12.0), (0.25, 0.25)],
)
def test_values_are_numbers_or_their_texts(written: object, value: float) -> None:
    assert parse(json.dumps({"a": {"women": {"cold - warm": written}}})).rows[0].value == value


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("104", "“104”"),
        ("-1", "“-1”"),
        (100.5, "“100.5”"),
        (1e300, "“1e+300”"),
        ("warm", "“warm”"),
        ("", "“”"),
        ("1e1", "“1e1”"),
        ("0x10", "“0x10”"),
        ("nan", "“nan”"),
        ("٣", "“٣”"),
        (True, "“True”"),
        (None, "null"),
        ([50], "a list"),
        ({"value": 5}, "an object"),
    ],
)
def test_a_bad_value_is_named_with_its_path_and_what_is_expected(
    written: object, shown: str
) -> None:
    data = {"annotator5": {"women": {"cold - warm": written, "poor - wealthy": "3"}}}
    assert messages(data) == [
        f"annotator5 → women → cold - warm: {shown}, expected a number from 0 to 100."
    ]
    assert len(parse(json.dumps(data)).rows) == 1


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_know_are_bad_values(constant: str) -> None:
    parsed = parse('{"a": {"women": {"cold - warm": ' + constant + "}}}")
    assert parsed.rows == ()
    assert "expected a number from 0 to 100" in str(parsed.problems[0])


def test_every_bad_place_is_reported_not_only_the_first() -> None:
    data = {
        "a": {"women": {"cold - warm": "104", "hot - cool": "5"}, "Martians": {"cold - warm": "1"}},
        "b": [],
        "c": {},
        "d": {"men": {}},
        "e": {"men": "5"},
        "f": {"men": {"warm - cold": "5"}},
    }
    assert sorted(messages(data)) == [
        "a → Martians: is no group of the library, expected one by name.",
        "a → women → cold - warm: “104”, expected a number from 0 to 100.",
        "a → women → hot - cool: is no trait pair of the library, expected “low pole - high pole”.",
        "b: a list, expected an object of groups.",
        "c: has no group, expected at least one.",
        "d → men: has no trait pair, expected at least one.",
        "e → men: “5”, expected an object of trait pairs.",
        "f → men → warm - cold: has its poles exchanged, expected the low pole first.",
    ]


def test_a_key_that_stands_twice_is_seen() -> None:
    twice = '{"a": {"women": {"cold - warm": "1", "cold - warm": "2", "poor - wealthy": "3"}}}'
    parsed = parse(twice)
    assert [str(problem) for problem in parsed.problems] == [
        "a → women → cold - warm: the trait pair stands here 2 times, expected once."
    ]
    assert [row.scale for row in parsed.rows] == ["poor-wealthy"]
    assert parsed.n_skipped == 2


def test_an_annotator_who_stands_twice_is_seen() -> None:
    parsed = parse('{"a": {"women": {"cold - warm": "1"}}, "a": {"men": {"cold - warm": "2"}}}')
    assert [str(problem) for problem in parsed.problems] == [
        "a: stands in the file 2 times, expected once."
    ]
    assert parsed.rows == ()


def test_one_group_under_two_spellings_is_seen() -> None:
    pair = {"cold - warm": "1"}
    assert messages({"a": {"Black people": pair, "Blacks/African Americans": pair}}) == [
        "a → Black people: the group stands here 2 times: “Black people”, "
        "“Blacks/African Americans”, expected once."
    ]


@pytest.mark.parametrize("name", ["", "   ", "x" * 28])
def test_annotators_need_a_name_that_can_be_stored(name: str) -> None:
    assert (
        "expected a name of 1 to 27 characters"
        in messages({name: {"women": {"cold - warm": "1"}}})[0]
    )


def test_messages_stay_on_one_line_and_short() -> None:
    message = messages({"a": {"women": {"cold - warm": "9\n\x1b[31m" + "x" * 5000}}})[0]
    assert "\n" not in message
    assert "\x1b" not in message
    assert len(message) < 200


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "The file is empty"),
        (b" \n ", "The file is empty"),
        (b"annotator,group\n", "The file is not JSON: line 1, column 1"),
        (b'{"a": {"women":\n {"cold - warm": "1",, ', "is not JSON: line 2, column 22"),
        (b'{"a": {"women":\n {"cold - warm": "1"', "ends too early: line 2, column 21"),
        (b'{"a": {"wom', "ends too early: line 1, column 8"),
        (b"[1, 2]", "The file holds a list, expected an object of annotators"),
        (b'"text"', "The file holds “text”, expected an object of annotators"),
        (b"null", "The file holds null"),
        (b"{}", "The file holds no annotator"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8 text: byte 1 is not valid"),
        (b'{"a": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"a": {"women": {"cold - warm": ' + b"9" * 5000 + b"}}}", "cannot be read"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_one_message(content: bytes, expected: str) -> None:
    with pytest.raises(AbcFileError) as caught:
        parse(content)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_does_no_harm() -> None:
    assert len(parse(b'\xef\xbb\xbf{"a": {"women": {"cold - warm": "1"}}}').rows) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["women", "men", "cold - warm", "x", ""]), inner, max_size=3
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_either_refused_or_fully_accounted_for(data: object) -> None:
    try:
        parsed = parse(json.dumps(data))
    except AbcFileError:
        return
    assert all(0 <= row.value <= 100 for row in parsed.rows)
    assert parsed.rows or parsed.problems
    assert len({row[:3] for row in parsed.rows}) == len(parsed.rows)
