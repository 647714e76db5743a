"""The language of a visit: the first choice, the switch, what is kept and what is stored."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import translation

from annotation.models import DemographicAnswer, PageEvent, Rating, Study
from tests.annotation.survey.flows import free_text
from tests.annotation.survey.pages import SurveyPage, read_page

pytestmark = pytest.mark.django_db

SPANISH = {"HTTP_ACCEPT_LANGUAGE": "es-MX,es;q=0.9,en;q=0.5"}
FIXED = {"scale_order": "fixed", "pole_sides": "fixed"}


@pytest.fixture
def study(make_bilingual) -> Study:  # type: ignore[no-untyped-def]
    return make_bilingual()


def start(client: Client, study: Study, **options: str) -> str:
    """Press “Start” and return the visit's address."""
    page = read_page(client.get(study.get_absolute_url(), **options).content.decode())
    return client.post(page.action, page.fields, **options).headers["Location"]


def see(client: Client, path: str) -> SurveyPage:
    return read_page(client.get(path).content.decode())


def send(client: Client, page: SurveyPage, **answers: object):  # type: ignore[no-untyped-def]
    return client.post(page.action, {**page.fields, **answers})


def rate(page: SurveyPage, value: int = 70) -> dict[str, object]:
    answers: dict[str, object] = {}
    for scale in page.lines:
        answers |= {f"value-{scale}": value, f"touched-{scale}": "1"}
    return answers


def test_landing_speaks_the_browsers_language(client: Client, study: Study) -> None:
    response = client.get(study.get_absolute_url(), **SPANISH)
    html = response.content.decode()
    assert '<html lang="es" dir="ltr">' in html
    assert read_page(html).heading == "Cómo se ve a los grupos"
    assert "Empezar" in html
    assert "Accept-Language" in response.headers["Vary"]
    assert response.headers["Content-Language"] == "es"


def test_landing_in_another_language_keeps_what_the_link_carried(
    client: Client, study: Study
) -> None:
    html = client.get(f"{study.get_absolute_url()}?from=a%26b", **SPANISH).content.decode()
    assert "?from=a%26b&amp;language=en" in html
    html = client.get(f"{study.get_absolute_url()}?language=en", **SPANISH).content.decode()
    assert '<html lang="en"' in html
    assert "How groups are seen" in html


def test_unknown_language_in_the_link_is_passed_over(client: Client, study: Study) -> None:
    html = client.get(f"{study.get_absolute_url()}?language=<b>", **SPANISH).content.decode()
    assert '<html lang="es"' in html


def test_study_in_one_language_has_no_switch(client: Client, make_study) -> None:  # type: ignore[no-untyped-def]
    study = make_study()
    html = client.get(study.get_absolute_url(), **SPANISH).content.decode()
    assert '<html lang="en"' in html
    assert "languages" not in html


def test_visit_begins_in_the_language_of_the_landing(client: Client, study: Study) -> None:
    path = start(client, study, **SPANISH)
    assert study.submissions.get().language == "es"
    # Whatever the browser says later.
    assert see(client, path).heading == "Antes de empezar"
    assert not any(cookie.value == "es" for cookie in client.cookies.values())


def test_whoever_comes_back_reads_their_own_language(client: Client, study: Study) -> None:
    start(client, study, **SPANISH)
    page = read_page(client.get(study.get_absolute_url()).content.decode())
    assert "Ya empezaste este estudio." in page.text
    address = f"{study.get_absolute_url()}?language=en"
    page = read_page(client.get(address, **SPANISH).content.decode())
    assert "You have started this study before." in page.text
    client.post(page.action, page.fields, **SPANISH)
    assert study.submissions.get().language == "en"


def test_switch_keeps_what_is_on_the_page_without_scripts(client: Client, make_bilingual) -> None:  # type: ignore[no-untyped-def]
    study = make_bilingual(flow=["rating"], instrument_options=FIXED)
    path = start(client, study)
    page = see(client, path)
    scale = next(iter(page.lines))
    response = send(
        client, page, **{f"value-{scale}": "83", f"touched-{scale}": "1", "language": "es"}
    )
    html = response.content.decode()
    assert response.status_code == 200
    assert '<html lang="es"' in html
    assert f'name="value-{scale}" min="0" max="100" step="1"' in html
    assert 'value="83"' in html
    assert html.count('value="83"') == 1
    assert "¿Cómo ve la gente en Estados Unidos a" in read_page(html).heading
    assert not Rating.objects.exists()
    assert study.submissions.get().language == "es"


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [("agree", "yes", 'value="yes" checked'), ("text", "Al <b>fin</b>", "Al &lt;b&gt;fin")],
)
def test_switch_keeps_ticks_and_texts(
    client: Client, make_bilingual, field: str, value: str, kept: str
) -> None:  # type: ignore[no-untyped-def]
    question = free_text(question={"en": "What did you think?", "es": "¿Qué pensaste?"})
    flow = ["consent", "rating"] if field == "agree" else [question, "rating"]
    study = make_bilingual(flow=flow)
    path = start(client, study)
    response = send(client, see(client, path), **{field: value, "language": "es"})
    assert kept in response.content.decode()


def test_switch_of_a_page_whose_answers_the_device_keeps_loads_it_again(
    client: Client, study: Study
) -> None:
    path = start(client, study)
    response = send(client, see(client, path), language="es", kept="1")
    assert (response.status_code, response.headers["Location"]) == (302, path)
    assert see(client, path).heading == "Antes de empezar"


def test_switch_in_a_page_that_was_sent_leads_to_the_current_one(
    client: Client, study: Study
) -> None:
    path = start(client, study)
    consent = see(client, path)
    send(client, consent, agree="yes")
    response = send(client, consent, language="es")
    assert (response.status_code, response.headers["Location"]) == (302, path)
    assert see(client, path).heading == "Cómo funciona"


def test_language_that_the_study_lacks_is_refused(client: Client, study: Study) -> None:
    path = start(client, study, **SPANISH)
    response = send(client, see(client, path), language="fr")
    assert response.status_code == 400
    assert "El estudio no tiene ese idioma." in response.content.decode()
    own = path.replace("/r/", "/w/")
    assert client.post(own, {"language": "fr"}).status_code == 400
    assert study.submissions.get().language == "es"


def test_own_page_and_its_files_speak_the_chosen_language(client: Client, study: Study) -> None:
    path = start(client, study)
    own = path.replace("/r/", "/w/")
    assert client.post(own, {"language": "es"}).headers["Location"] == own
    html = client.get(own).content.decode()
    assert read_page(html).heading == "Salir del estudio"
    assert '<html lang="es"' in html


def test_problems_are_told_in_the_language_of_the_visit(client: Client, study: Study) -> None:
    path = start(client, study, **SPANISH)
    response = send(client, see(client, path))
    assert response.status_code == 422
    assert "Marca la casilla si aceptas." in response.content.decode()
    forged = send(client, see(client, path), step="forged")
    assert "no la hizo esta encuesta" in forged.content.decode()


def test_each_page_is_stored_with_the_language_in_which_it_was_sent(
    client: Client, study: Study
) -> None:
    path = start(client, study)
    send(client, see(client, path), agree="yes")
    client.post(path, {"language": "es"})
    send(client, see(client, path))
    events = PageEvent.objects.filter(submission__study=study).order_by("step_index")
    assert list(events.values_list("step_kind", "language")) == [
        ("consent", "en"),
        ("instructions", "es"),
    ]


def test_answers_are_stored_as_the_instrument_writes_them(client: Client, make_bilingual) -> None:  # type: ignore[no-untyped-def]
    study = make_bilingual(flow=["rating", "demographics"])
    path = start(client, study, **SPANISH)
    send(client, page := see(client, path), **rate(page))
    html = client.get(path).content.decode()
    assert "¿Cuál es tu género?" in html
    assert "Carolina del Norte" in html
    page = read_page(html)
    states = study.instruments.get().questions.get(slug="state").options
    number = states.index("North Carolina") + 1
    send(client, page, **{"answer-gender": ["2"], "answer-state": str(number)})
    stored = dict(DemographicAnswer.objects.values_list("question__slug", "value"))
    assert stored == {"gender": ["Woman"], "state": "North Carolina"}
    own = read_page(client.get(path.replace("/r/", "/w/")).content.decode())
    assert "Mujer" in own.text
    assert "Carolina del Norte" in own.text


@pytest.mark.parametrize(
    ("typed", "passed"),
    [
        ("los inmigrantes", True),
        ("Inmigrante", True),
        ("immigrants", True),
        ("los veteranos", False),
        ("no sé", False),
    ],
    ids=["plural", "singular", "english", "another", "none"],
)
def test_group_is_named_in_any_language_of_the_study(
    client: Client, make_bilingual, typed: str, passed: bool
) -> None:  # type: ignore[no-untyped-def]
    study = make_bilingual(
        flow=["rating", "group_name"], groups=("immigrant", "veteran"), quota_per_group=1
    )
    study.instruments.get().groups.filter(slug="veteran").update(position=2)
    path = start(client, study, **SPANISH)
    page = see(client, path)
    if "inmigrantes" not in page.heading:  # the other one has the only place left
        send(client, page, **rate(page))
        client.cookies.clear()
        path = start(client, study, **SPANISH)
        page = see(client, path)
    send(client, page, **rate(page))
    send(client, see(client, path), **{"group-name": typed})
    submission = study.submissions.get(token=path.strip("/").split("/")[-1])
    assert submission.checks.get().passed is passed


def test_words_of_lines_change_and_their_values_do_not(client: Client, make_bilingual) -> None:  # type: ignore[no-untyped-def]
    study = make_bilingual(flow=["rating"], instrument_options=FIXED)
    path = start(client, study, **SPANISH)
    page = see(client, path)
    assert page.lines["cold-warm"] == ("frías", "cálidas")
    assert page.lines["powerless-powerful"] == ("sin poder", "con poder")
    send(client, page, **{**rate(page, 20), "value-cold-warm": "95"})
    assert Rating.objects.get(scale__slug="cold-warm").value == 95
    assert set(Rating.objects.exclude(scale__slug="cold-warm").values_list("value", flat=True)) == {
        20
    }


def test_day_is_written_as_the_language_writes_it(client: Client, make_bilingual) -> None:  # type: ignore[no-untyped-def]
    study = make_bilingual(flow=["rating"], withdraw_until="2099-06-30")
    path = start(client, study, **SPANISH)
    own = client.get(path.replace("/r/", "/w/")).content.decode()
    assert "hasta el 30 de junio de 2099" in own
    client.post(path, {"language": "en"})
    assert "until 30 June 2099" in client.get(path.replace("/r/", "/w/")).content.decode()


def test_researchers_pages_stay_english(admin_client: Client, study: Study) -> None:
    html = admin_client.get("/admin/annotation/study/", **SPANISH).content.decode()
    assert "Studies" in html
    assert "Estudios" not in html
    assert '<html lang="en' in html


def test_pages_of_no_study_speak_the_browsers_language(client: Client) -> None:
    home = client.get("/", **SPANISH)
    assert "Para participantes" in home.content.decode()
    assert "For participants" in client.get("/?language=en", **SPANISH).content.decode()
    assert (
        "No hay ningún estudio en este enlace"
        in client.get("/s/nothing/", **SPANISH).content.decode()
    )
    assert "No hay nada en esta dirección" in client.get("/nowhere", **SPANISH).content.decode()


def test_language_of_one_request_does_not_reach_the_next(client: Client, study: Study) -> None:
    path = start(client, study, **SPANISH)
    send(client, see(client, path))
    assert translation.get_language() == "en"
    assert "For participants" in client.get("/").content.decode()
