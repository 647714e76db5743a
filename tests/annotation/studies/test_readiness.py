"""What keeps a study from being launched, where it is mended, and what is only worth a thought."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest

from annotation.instruments.flow import parse_flow
from annotation.models import Instrument, PanelSettings, Study, Wording
from annotation.studies.lifecycle import find_launch_problems
from annotation.studies.readiness import Finding, estimate_minutes, examine_study
from tests.annotation.studies.people import make_study
from tests.annotation.survey.flows import choice, comprehension, free_text, instructed

pytestmark = pytest.mark.django_db


def examine(study: Study) -> list[Finding]:
    return examine_study(Study.objects.get(pk=study.pk), study.instruments.get())


def draft(**options: object) -> Study:
    return make_study(launched=False, **options)


def test_the_default_study_is_ready_and_raises_no_questions() -> None:
    assert examine(draft()) == []


@pytest.mark.parametrize(
    ("spoil", "expected", "place", "field"),
    [
        (
            lambda study, _: Study.objects.filter(pk=study.pk).update(contact_email=""),
            "no address at which participants reach",
            "settings",
            "contact_email",
        ),
        (
            lambda study, _: Study.objects.filter(pk=study.pk).update(
                panel="prolific", completion_codes={**study.completion_codes, "no_consent": ""}
            ),
            "no completion code for “No consent”",
            "settings",
            "code_no_consent",
        ),
        (
            lambda _, instrument: instrument.wordings.filter(key="question").update(text=" "),
            "Texts are missing in English: Rating page: Question.",
            "texts",
            "question",
        ),
        (
            lambda _, instrument: instrument.wordings.filter(key="question").update(text="How?"),
            "lacks “{group}”",
            "texts",
            "question",
        ),
        (lambda _, instrument: instrument.scales.all().delete(), "no trait scale", "scales", ""),
        (
            lambda _, instrument: instrument.groups.filter(position__gt=3).delete(),
            "3 groups, expected at least 4",
            "groups",
            "",
        ),
    ],
)
def test_what_is_missing_is_named_with_its_place(
    spoil: Callable[[Study, Instrument], object], expected: str, place: str, field: str
) -> None:
    study = draft()
    spoil(study, study.instruments.get())
    (finding,) = examine(study)
    assert expected in finding.text
    assert (finding.place, finding.field, finding.blocks) == (place, field, True)
    assert find_launch_problems(Study.objects.get()) == [finding.text]


def test_a_blank_of_a_question_from_the_library_keeps_a_study_from_its_launch() -> None:
    """Participants would read “[group]”."""
    question = choice(question={"en": "How much do you know about [group]?"})
    study = draft(flow=["consent", question, "rating"], estimated_minutes=3)
    (finding,) = examine(study)
    assert finding.text == (
        "Step 2 (Question with answers to choose from): question still says “[group]” in English."
    )
    assert (finding.place, finding.step, finding.field) == ("flow", 1, "question")
    assert finding.blocks


def test_every_language_needs_every_text_also_those_of_steps() -> None:
    study = draft(flow=["consent", choice(help={"en": "One."}), "rating"], estimated_minutes=3)
    instrument = study.instruments.get()
    Wording.objects.create(
        instrument=instrument, language="es", key="question", text="¿Cómo ven a {group}?"
    )
    texts = [finding.text for finding in examine(study)]
    # The question of the step has a Spanish text; its help and its three answers have none.
    assert len(texts) == 5
    assert "Step 2 (Question with answers to choose from): help is missing in Español." in texts
    assert any("options 3 text is missing in Español" in text for text in texts)
    assert texts[-1].startswith("Texts are missing in Español: “Group ratings”, Consent: Title")


def test_answers_that_read_alike_are_worth_a_thought() -> None:
    question = choice()
    question["options"][2]["text"]["en"] = " Friend "
    question["options"][0]["text"]["en"] = "friend"
    study = draft(flow=["consent", question, "rating"], estimated_minutes=3)
    (finding,) = examine(study)
    assert finding.text == (
        "Step 2 (Question with answers to choose from): options 1 and 3 read the same in English."
    )
    assert (finding.step, finding.blocks) == (1, False)


def test_conditions_need_questions_that_are_asked() -> None:
    flow = [
        "demographics",
        free_text("one", show_if={"question": "shoe-size", "at_least": 40}),
        free_text("two", show_if={"question": "area", "is": "Moon"}),
        free_text("three", show_if={"question": "area", "is": "Rural"}),
        "rating",
    ]
    found = [finding for finding in examine(draft(flow=flow)) if finding.blocks]
    assert [(finding.step, finding.field) for finding in found] == [(1, "show_if"), (2, "show_if")]
    assert "“shoe-size”, which is not among" in found[0].text
    assert "the answer “Moon”" in found[1].text


def thoughts(study: Study) -> str:
    findings = examine(study)
    assert not any(finding.blocks for finding in findings)
    assert find_launch_problems(study) == []
    return "\n".join(finding.text for finding in findings)


def test_what_is_only_worth_a_thought_blocks_nothing() -> None:
    assert "Participants are told 60 minutes." in thoughts(draft(estimated_minutes=60))
    assert "Participants are told 2 minutes." in thoughts(draft(estimated_minutes=2))
    assert "has passed" in thoughts(draft(withdraw_until=date(2020, 1, 31)))
    assert "pays no reward" in thoughts(draft(panel="prolific", reward_cents=0))
    assert "no such step" in thoughts(draft(flow=["rating"] * 4))
    flow = ["consent", "instructions", *["rating"] * 4, instructed()]
    assert thoughts(draft(flow=flow)) == ""
    promising = draft(flow=flow)
    body = promising.instruments.get().wordings.filter(key="instructions_body")
    body.update(text="There are checks. Your payment does not depend on them.")
    assert "Panels allow rejection for step 7" in thoughts(promising)
    promising.reward_cents = 0
    promising.save()
    assert "its text “Instructions: What participants read” speaks of payment" in thoughts(
        promising
    )
    assert thoughts(draft(reward_cents=0)) == ""
    flow = ["consent", "instructions", *["rating"] * 4, comprehension()]
    assert thoughts(draft(flow=flow)) == ""


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("Thank you. Everyone who finishes is paid $2.", True),
        ("We pay all participants who complete the study!", True),
        ("Se paga a todas las personas que terminan.", True),
        ("You are paid if your answers are accepted.", False),
        ("Everyone is welcome. You can finish later. We pay by bank.", False),
    ],
)
def test_a_text_that_promises_pay_to_all_blocks_the_launch_of_a_paid_study(
    text: str, blocks: bool
) -> None:
    study = draft(reward_cents=200)
    study.instruments.get().wordings.filter(key="consent_body").update(text=text)
    found = [(one.place, one.field, one.blocks) for one in examine(study)]
    assert found == ([("texts", "consent_body", True)] if blocks else [])
    assert bool(find_launch_problems(study)) == blocks
    study.reward_cents = 0
    study.save()
    assert find_launch_problems(study) == []


def test_pay_below_the_studys_own_minimum_is_told() -> None:
    study = draft(reward_cents=100, estimated_minutes=10)
    PanelSettings.objects.update_or_create(study=study, defaults={"minimum_hourly_minor": 800})
    # 1.00 for ten minutes is 6.00 an hour.
    assert "pays 6.00 USD an hour, below the lowest of 8.00" in thoughts(study)


def test_the_estimate_of_minutes_adds_lines_and_words() -> None:
    study = draft(flow=["rating", choice()])
    instrument = study.instruments.get()
    # 16 lines of 5 s; a question of 7 words at 238 a minute and 6 s to choose.
    by_hand = (16 * 5 + 7 * 60 / 238 + 6) / 60
    assert estimate_minutes(instrument, parse_flow(instrument.flow)) == pytest.approx(by_hand)
