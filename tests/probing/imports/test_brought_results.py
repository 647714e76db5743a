"""Predictions, scores, and ratings as other programs save them. What is expected is by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    BadImportError,
    ImportPlan,
    ImportRequest,
    import_kinds,
    plan_import,
)
from tests.annotation.imports.test_rating_tables import ABOUT

pytestmark = pytest.mark.django_db

GROUPS = ("woman", "woman", "man", "man")
TEXTS = ("she was kind", "she was bad", "he was kind", "he was bad")
GOLD = ("positive", "negative", "positive", "negative")
SAID = ("positive", "negative", "negative", "negative")
#: Of the labels of 0, 1, and 2.
EXPECTED = (2, 0, 0, 0)


def plan(kind: str, name: str, content: str, **options: str) -> ImportPlan:
    return plan_import(import_kinds()[kind], ImportRequest(content.encode(), name, options))


def predictions(columns: str, *values: tuple[Any, ...], mark: str = ",", **options: str) -> Any:
    rows = zip(GROUPS, TEXTS, *values, strict=True)
    lines = [f"group{mark}text{mark}{columns}", *(mark.join(map(str, row)) for row in rows)]
    found = plan("predictions", "p.csv", "\n".join(lines), data_set="d", producer="m", **options)
    assert not found.problems
    return found.data[0].predicted["m"], " ".join(found.warnings)


@pytest.mark.parametrize("names", ["seed_1,seed_2", "pred_2024,pred_2025", "y_pred_1,y_pred_2"])
def test_a_column_for_each_seed_is_a_run_for_each(names: str) -> None:
    found, _ = predictions(f"gold,{names}", GOLD, SAID, GOLD)
    first, second = names.split(",")
    assert found == {first: EXPECTED, second: (2, 0, 2, 0)}


@pytest.mark.parametrize(("yes", "no"), [("True", "False"), ("yes", "no"), ("Y", "N")])
def test_labels_of_two_classes_are_positive_and_negative_said_aloud(yes: str, no: str) -> None:
    gold = (yes, no, yes, no)
    found, warnings = predictions("gold,pred", gold, (yes, no, no, no))
    assert found == {"run 1": EXPECTED}
    assert f"{no.lower()}=negative, {yes.lower()}=positive" in warnings


def test_0_and_1_alone_are_named_as_negative_and_neutral() -> None:
    found, warnings = predictions("gold,pred", (1, 0, 1, 0), (1, 0, 0, 0))
    assert found == {"run 1": (1, 0, 0, 0)}
    assert "give the labels 0=negative, 1=positive" in warnings


@pytest.mark.parametrize(
    ("columns", "mark"),
    [("prob_negative,prob_neutral,prob_positive", ","), ("p(0);p(1);p(2)", ";")],
)
def test_the_likeliest_label_counts_said_aloud(columns: str, mark: str) -> None:
    shares = [(0.1, 0.8, 0.7, 0.9), (0.1, 0.1, 0.1, 0.05), (0.8, 0.1, 0.2, 0.05)]
    if mark == ";":
        shares = [tuple(str(one).replace(".", ",") for one in column) for column in shares]
    found, warnings = predictions(f"gold{mark}{columns}", GOLD, *shares, mark=mark)
    assert found == {"run 1": EXPECTED}
    assert "is the likeliest label of each row" in warnings


@pytest.mark.parametrize("column", ["probability", "prob_positive", "p(positive)"])
def test_one_probability_is_of_the_positive_label_from_a_half(column: str) -> None:
    found, warnings = predictions(f"gold,{column}", GOLD, (0.51, 0.2, 0.49, 0.1))
    assert found == {"run 1": EXPECTED}
    assert "a probability above 0.5" in warnings


def test_a_tie_and_a_missing_or_impossible_probability_are_named() -> None:
    content = "group,gold,p_0,p_2\na,0,0.5,0.5\na,0,,1\nb,2,0.1,0.9\nb,2,0.2,0.8\n"
    with pytest.raises(BadImportError) as caught:
        plan("predictions", "p.csv", content, data_set="d", producer="m")
    said = " ".join(map(str, caught.value.plan.problems))
    assert "Line 2: Two labels are equally likely: 0 and 2." in said
    assert "Line 3: “p_0” is empty, expected a number." in said
    with pytest.raises(BadImportError) as caught:
        plan("predictions", "p.csv", "group,gold,prob\na,0,1.5\n", data_set="d", producer="m")
    assert "“prob” is “1.5”, expected a probability" in str(caught.value.plan.problems[0])


def test_logs_of_inspect_and_samples_of_the_harness_are_predictions() -> None:
    rows = list(zip(GROUPS, TEXTS, GOLD, SAID, strict=True))
    log = {
        "version": 2,
        "eval": {"model": "a/b"},
        "samples": [
            {
                "id": n,
                "epoch": 1,
                "input": text,
                "target": gold,
                "metadata": {"group": group},
                "output": {"model": "b", "choices": [{"message": {"content": said}}]},
            }
            for n, (group, text, gold, said) in enumerate(rows)
        ],
    }
    found = plan("predictions", "log.json", json.dumps(log), data_set="d")
    assert found.data[0].predicted == {"b": {"1": EXPECTED}}
    lines = [
        {
            "doc_id": n,
            "doc": {"sentence": text, "group": group},
            "target": gold,
            "resps": [[said, "x"]],
            "filtered_resps": [said],
        }
        for n, (group, text, gold, said) in enumerate(rows)
    ]
    content = "\n".join(map(json.dumps, lines))
    found = plan("predictions", "samples.jsonl", content, data_set="d", producer="m")
    assert found.data[0].predicted == {"m": {"run 1": EXPECTED}}


MADE = {"model": "gpt-4", "revision": "1", "measure": "set", "obtained": "x"}


def test_scores_may_have_a_column_for_each_trait_pair() -> None:
    content = "group;cold – warm;poor-wealthy\nwomen;0,5;−0,2\nman;-0,1;\n"
    found = plan("scores", "s.csv", content, **MADE)
    rows = {(row["group"], row["trait"]): row["value"] for row in found.data[0]}
    assert rows["woman", "cold-warm"] == 0.5
    assert rows["woman", "poor-wealthy"] == -0.2
    assert rows["man", "cold-warm"] == -0.1
    assert rows["man", "poor-wealthy"] != rows["man", "poor-wealthy"]


def test_scores_without_trait_pairs_say_what_is_needed() -> None:
    with pytest.raises(TableFileError, match="Needed: trait and value; or a column for each trait"):
        plan("scores", "s.csv", "group,value\nwoman,1\n", **MADE)


@pytest.mark.parametrize("bad", ["-9999", "-inf"])
def test_a_bad_score_of_a_wide_file_is_named_by_its_column(bad: str) -> None:
    content = f"group,cold-warm,poor-wealthy\nwoman,0.5,{bad}\nman,-0.1,0.3\n"
    found = plan("scores", "s.csv", content, **MADE)
    assert [problem.line for problem in found.problems] == [2]
    assert f"“poor-wealthy” is “{bad}”" in str(found.problems[0])


RATED = {
    "limesurvey": '"id","submitdate","startlanguage","group","[cold – warm]"\n1,x,en,women,7\n',
    "redcap": "record_id,redcap_event_name,group,cold_warm\n1,arm_1,women,7\n",
    "otree": (
        "participant.code,rate.1.player.group,rate.1.player.cold_warm,rate.2.player.group,"
        "rate.2.player.cold_warm\na,women,7,men,\n"
    ),
    "prolific": "PROLIFIC_PID,group,cold-warm\n5f,women,7\n",
}


@pytest.mark.parametrize("tool", sorted(RATED))
def test_surveys_of_other_tools_are_ratings(tool: str) -> None:
    found = plan("ratings", "r.csv", RATED[tool], scale="1-7", **ABOUT)
    assert not found.problems
    assert [(row.group, row.scale, row.value) for row in found.data.rows] == [
        ("woman", "cold-warm", 100.0)
    ]


def test_an_id_is_no_person_beyond_limesurvey() -> None:
    with pytest.raises(TableFileError, match="no column “person”"):
        plan("ratings", "r.csv", "id,group,cold-warm\n1,women,7\n", **ABOUT)


def test_ratings_that_look_like_another_scale_are_named() -> None:
    content = "person,group,cold-warm\n" + "".join(f"p{n},women,{n % 7 + 1}\n" for n in range(14))
    assert "from 1 to 7 and were read on a scale of 0 to 100" in " ".join(
        plan("ratings", "r.csv", content, **ABOUT).warnings
    )
    for scale in ("0-100", "1-7"):
        said = " ".join(plan("ratings", "r.csv", content, scale=scale, **ABOUT).warnings)
        assert "read on a scale" not in said


def test_an_unknown_label_of_a_probability_is_named() -> None:
    content = "group,gold,prob_good,prob_negative\na,negative,0.9,0.1\nb,negative,0.8,0.2\n"
    with pytest.raises((BadImportError, TableFileError, ValidationError)) as caught:
        plan("predictions", "p.csv", content, data_set="d", producer="m")
    assert "good" in str(getattr(caught.value, "plan", caught.value))
