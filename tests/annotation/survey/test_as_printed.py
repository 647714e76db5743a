"""The survey as Cao et al. (2022) printed it: question, sides, ticks, and words that are typed."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.instruments.languages.language_service import add_known_language
from annotation.models import (
    CheckKind,
    CheckResponse,
    GroupSet,
    Outcome,
    PoleSides,
    Study,
    Submission,
    TraitPair,
)
from tests.annotation.researcher.studies.study_pages import new_study_values
from tests.annotation.studies.people import make_user
from tests.annotation.survey.participants import Person, spread
from tests.tokens import header_for

pytestmark = pytest.mark.django_db

PRINTED = "cao-2022-as-printed"
# The four scales of the tests, in the library's order.
LOW, HIGH = "powerless, poor, traditional, cold", "powerful, wealthy, modern, warm"


@pytest.fixture
def printed(make_study) -> Study:
    return make_study(preset=PRINTED)


def to_words(someone: Person, study: Study):
    """Go on to the check of words; return its page and the words that are right."""
    assert someone.start(study.get_absolute_url()).status == 302
    page = someone.go_on(until=lambda page: "near" in page.inputs)
    words = {}
    for pair in TraitPair.objects.filter(trait_scales__instrument__study=study):
        value = spread(someone._last, pair.slug)
        words |= {pair.low: 100 - value, pair.high: value}
    return page, max(words, key=words.__getitem__), min(words, key=words.__getitem__)


def test_the_question_the_sides_and_the_ticks_are_as_printed(printed, make_person) -> None:
    """Source: §4 “Survey Design”; Figure A2 for sides, ticks and instructions."""
    someone = make_person()
    someone.start(printed.get_absolute_url())
    instructions = someone.go_on(until=lambda page: "social groups" in page.text)
    assert "we are not interested in your personal beliefs" in instructions.text
    practiced = someone.go_on(until=lambda page: bool(page.lines))
    assert {"cloudy", "sunny"} < {word for words in practiced.lines.values() for word in words}
    someone.send(practiced)
    page = someone.go_on(until=lambda page: bool(page.lines))
    html = someone.see().html
    assert page.heading == (
        "As viewed by American society, (while my own opinions may differ), how "
        f"{LOW} versus {HIGH} are {page.group}?"
    )
    assert all(slug == f"{left}-{right}" for slug, (left, right) in page.lines.items())
    assert html.count('class="ticks"') == len(page.lines)
    instrument = printed.instruments.get()
    assert (instrument.pole_sides, instrument.show_ticks) == (PoleSides.FIXED, True)


def test_typed_words_pass_with_errors_and_by_their_synonyms(printed, make_person) -> None:
    someone = make_person()
    page, near, far = to_words(someone, printed)
    synonyms = {
        word: synonyms
        for pair in TraitPair.objects.all()
        for word, synonyms in ((pair.low, pair.low_synonyms), (pair.high, pair.high_synonyms))
    }
    changes = {"near": f"Very {near.upper()}", "far": (synonyms[far] or [far])[0]}
    assert someone.send(page, **changes).status == 302
    check = CheckResponse.objects.get(kind=CheckKind.MARKED_TRAITS)
    assert check.passed is True
    assert check.answer == changes
    assert check.expected["typed"] is True
    last = someone.connection.get(someone.path).page
    assert last.fields.get("step")  # the visit goes on


def test_wrong_words_fail_and_a_person_looks(printed, make_person) -> None:
    someone = make_person()
    page, near, far = to_words(someone, printed)
    someone.send(page, near=far, far=near)
    assert CheckResponse.objects.get(kind=CheckKind.MARKED_TRAITS).passed is False
    while (page := someone.see().page).fields.get("step"):
        someone.send(page)
    submission = Submission.objects.get()
    assert submission.outcome == Outcome.FAILED_CHECK
    boss = Client()
    boss.force_login(make_user("boss", is_superuser=True))
    address = reverse("admin:annotation_submission_change", args=[submission.pk])
    review = boss.get(address, follow=True).content.decode()
    assert far in review


def test_empty_and_endless_words_are_asked_for_again_without_scripts(printed, make_person) -> None:
    someone = make_person()
    page, near, _far = to_words(someone, printed)
    answer = someone.send(page, near=near, far="")
    assert answer.status == 422
    assert answer.page.text.count("Type one word.") == 1
    assert f'value="{near}"' in answer.html  # what was typed is kept
    assert someone.send(page, near="x" * 61, far="y").status == 422
    assert not CheckResponse.objects.filter(kind=CheckKind.MARKED_TRAITS).exists()


def test_it_is_asked_in_spanish_and_english_words_count(make_study, make_person) -> None:
    study = make_study(preset=PRINTED, launched=False)
    instrument = study.instruments.get()
    add_known_language(instrument=instrument, language="es")
    wordings = dict(instrument.wordings.filter(language="es").values_list("key", "text"))
    assert wordings["question"].startswith("Según la sociedad estadounidense")
    assert {"{low}", "{high}", "{group}"} <= set(wordings["question"].replace("?", " ").split()) | {
        part.strip(",") for part in wordings["question"].split()
    }
    assert wordings["instructions_body"].startswith("En nuestra sociedad")


def test_the_form_of_a_new_study_offers_it() -> None:
    user = make_user("alice")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="annotation"))
    client = Client()
    client.force_login(user)
    address = reverse("admin:annotation_study_add")
    assert (
        "Cao et al. 2022, as printed"
        in client.get(address, {"kind": "abc_survey"}).content.decode()
    )
    fields = new_study_values(preset=PRINTED)
    answer = client.post(address, fields)
    assert answer.status_code == 302, answer.content.decode()[:3000]
    instrument = Study.objects.get().instruments.get()
    assert instrument.pole_sides == PoleSides.FIXED
    assert "typed_traits" in instrument.flow
    assert "{low} versus {high}" in instrument.wordings.get(key="question").text


def is_printed(study: Study) -> bool:
    instrument = study.instruments.get()
    question = instrument.wordings.get(key="question").text
    return (
        question.startswith("As viewed by American society, (while my own opinions may differ)")
        and instrument.show_ticks
        and "typed_traits" in instrument.flow
    )


def test_the_command_makes_a_draft_as_printed(capsys) -> None:
    known = ["--title", "As printed", "--contact", "lab@example.org"]
    call_command("create_study", *known, "--preset", PRINTED)
    study = Study.objects.get()
    assert is_printed(study)
    assert study.instruments.get().groups.count() == 25
    assert study.public_id in capsys.readouterr().out
    call_command("create_study", *known, "--groups", "cao-2022-released")
    GroupSet.objects.create(slug="few", title="Few")
    assert not is_printed(Study.objects.latest("pk"))
    for wrong, told in (
        (["--groups", "nobody"], "no set of groups “nobody”"),
        (["--groups", "few"], "at least 4 groups"),
        (["--owner", "nobody"], "No user is called"),
    ):
        with pytest.raises(CommandError, match=told):
            call_command("create_study", *known, *wrong)
    assert Study.objects.count() == 2


def test_the_api_makes_a_draft_as_printed_for_those_who_may_add_studies() -> None:
    alice, bob = make_user("alice"), make_user("bob")
    alice.user_permissions.add(Permission.objects.get(codename="add_study"))
    bob.user_permissions.clear()
    GroupSet.objects.create(slug="few", title="Few")

    def post(user, **changes):
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=header_for(user))
        asked = {"title": "Printed", "contact_email": "lab@example.org", "preset": PRINTED}
        return client.post("/api/v1/studies/", {**asked, **changes}, format="json")

    assert post(bob).status_code == 403
    for wrong in ({"preset": "as-i-like"}, {"group_sets": ["few"]}, {"group_sets": ["no"]}):
        assert post(alice, **wrong).status_code == 400
    assert not Study.objects.exists()
    made = post(alice)
    assert made.status_code == 201
    study = Study.objects.get(public_id=made.json()["public_id"])
    assert is_printed(study)
    assert study.owner == alice
