"""Studies of the speakers of texts: how they are made, what researchers see, what is exported."""

from __future__ import annotations

import csv
import io

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.common.tables import stream_csv
from annotation.corpora.access import visible_corpora
from annotation.exports.ratings import build_page_table, build_rating_table
from annotation.models import Study, StudyKind, StudyMembership, Submission
from annotation.studies.guise_ratings import (
    hash_guise_ratings,
    list_varieties,
    load_guise_ratings,
)
from annotation.studies.lifecycle import launch_study
from tests.annotation.studies.people import make_user
from tests.annotation.survey.guises import SCALES, make_guise_study, make_pairs, rate_by_variety
from tests.tokens import header_for

pytestmark = pytest.mark.django_db


def read(table) -> list[dict[str, str]]:  # type: ignore[no-untyped-def]
    return list(csv.DictReader(io.StringIO(b"".join(stream_csv(table)).decode())))


@pytest.fixture
def staff():  # type: ignore[no-untyped-def]
    user = make_user("alice")
    user.user_permissions.add(Permission.objects.get(codename="add_study"))
    return user


@pytest.fixture
def client(staff) -> Client:  # type: ignore[no-untyped-def]
    client = Client()
    client.force_login(staff)
    return client


def test_the_form_makes_a_study_of_a_corpus_that_one_may_see(client, staff) -> None:  # type: ignore[no-untyped-def]
    corpus, foreign = make_pairs(7, owner=staff), make_pairs(7)
    address = f"{reverse('admin:annotation_study_add')}?kind=guise_rating"
    form = client.get(address).context["adminform"].form
    assert list(form.fields["corpus"].queryset) == [corpus]
    assert address in client.get(reverse("admin:annotation_study_gallery")).content.decode()
    sent = {name: field.initial for name, field in form.fields.items() if field.initial is not None}
    sent |= {"title": "Speakers", "contact_email": "lab@example.org", "panel": "link"}
    sent |= {"currency": "USD", "reward_cents": 200, "estimated_minutes": 10, "quota_per_group": 5}
    sent |= {"quota_rule": "hard", "reservation_minutes": 40, "pilot_places": 5}
    sent["trait_pairs"] = [pair.pk for pair in sent["trait_pairs"][:3]]
    for changes, field in (
        ({"corpus": foreign.pk}, "corpus"),
        ({"corpus": corpus.pk, "n_pairs": 8}, "n_pairs"),
        ({"corpus": corpus.pk, "n_pairs": 5}, "n_pairs"),
    ):
        answer = client.post(address, {**sent, **changes})
        assert list(answer.context["adminform"].form.errors) == [field]
    assert not Study.objects.exists()
    answer = client.post(address, {**sent, "corpus": corpus.pk, "n_pairs": 6})
    study = Study.objects.get()
    assert (study.kind, study.owner, study.quota_per_group) == (StudyKind.GUISE_RATING, staff, 5)
    assert (study.instruments.get().groups.count(), study.instruments.get().scales.count()) == (
        12,
        3,
    )
    assert answer.url == reverse("admin:annotation_study_overview", args=[study.pk])


def test_the_command_makes_the_draft() -> None:
    corpus, out = make_pairs(7), io.StringIO()
    known = ("--title", "Speakers", "--contact", "lab@example.org")
    call_command(
        "create_guise_study", corpus.name, *known, "--pairs", "6", "--scale", SCALES[0], stdout=out
    )
    study = Study.objects.get()
    assert study.public_id in out.getvalue()
    assert study.instruments.get().groups.count() == 12
    assert [scale.slug for scale in study.instruments.get().scales.all()] == [SCALES[0]]
    launch_study(study=study)
    for arguments, said in (
        (("none", *known), "No corpus is called"),
        ((corpus.name, *known, "--pairs", "9"), "expected 1 to 7"),
        ((corpus.name, *known, "--scale", "big-small"), "no trait pair “big-small”"),
        ((corpus.name, *known, "--owner", "nobody"), "No user"),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("create_guise_study", *arguments)
    assert Study.objects.count() == 1


def test_the_api_makes_the_draft_for_those_who_see_the_corpus(staff) -> None:  # type: ignore[no-untyped-def]
    corpus = make_pairs(7, owner=staff)
    asked = {"title": "t", "contact_email": "lab@example.org", "corpus": corpus.public_id}

    def post(user, **changes):  # type: ignore[no-untyped-def]
        api = APIClient()
        api.credentials(HTTP_AUTHORIZATION=header_for(user))
        return api.post("/api/v1/guise-studies/", {**asked, **changes}, format="json")

    mallory = make_user("mallory")
    mallory.user_permissions.add(Permission.objects.get(codename="add_study"))
    assert post(mallory).status_code == 400
    assert post(staff, n_pairs=8).status_code == 400
    assert post(staff, trait_pairs=["big-small"]).status_code == 400
    assert not Study.objects.exists()
    answer = post(staff, n_pairs=6, trait_pairs=list(SCALES))
    assert answer.status_code == 201
    shown = answer.json()
    assert (shown["kind"], shown["annotator_link"]) == ("guise_rating", None)
    assert shown["participant_link"].endswith(f"/s/{shown['public_id']}/")
    groups = shown["instrument"]["groups"]
    assert {group["variety"] for group in groups} == {"AAL", "WME"}
    assert len({group["item"] for group in groups}) == 6


def test_members_of_a_study_see_its_corpus() -> None:
    bob = make_user("bob")
    study = make_guise_study()
    assert not visible_corpora(bob).exists()
    StudyMembership.objects.create(study=study, user=bob, role="viewer")
    assert visible_corpora(bob).count() == 1


def test_pages_of_researchers_speak_of_texts(client, staff) -> None:  # type: ignore[no-untyped-def]
    study = make_guise_study(owner=staff, launched=False)
    instrument = reverse("admin:annotation_instrument_change", args=[study.instruments.get().pk])
    shown = client.get(instrument).content.decode()
    assert '"ratesTexts": true' in shown
    assert "She be cookin every day." in shown
    assert '"group_name"' not in shown.split('"menu"')[1].split('"kinds": {')[0]
    launch_study(study=study)
    paths = rate_by_variety(study, people=2)
    overview = client.get(reverse("admin:annotation_study_overview", args=[study.pk]))
    text = overview.content.decode()
    assert "Accepted ratings by text, 20 wanted each" in text
    assert "AAL: She be cookin every day." in text
    assert "by group" not in text
    review = reverse(
        "admin:annotation_submission_review",
        args=[Submission.objects.get(token=paths[0].split("/")[2]).pk],
    )
    assert "She be" in client.get(review).content.decode()


def test_exports_name_text_pair_and_variety() -> None:
    study = make_guise_study()
    rate_by_variety(study, people=2, raised=30)
    rows = read(build_rating_table(study))
    assert len(rows) == 2 * 3 * 2
    assert "group" not in rows[0]
    for row in rows:
        assert row["text"] == f"{row['pair']}-{row['variety'].lower()}"
        assert row["body"].startswith("She be" if row["variety"] == "AAL" else "She usually")
    # The first person says 40 of a writer of WME and 70 of one of AAL, the second 41 and 71.
    assert {(row["variety"], row["value"]) for row in rows} == {
        (variety, value)
        for variety, values in (("AAL", ("70.0", "71.0")), ("WME", ("40.0", "41.0")))
        for value in values
    }
    pages = read(build_page_table(study))
    assert len(pages) == 6
    for page in pages:
        assert {page[scale.replace("-", "_")] for scale in SCALES} <= {
            "70.0",
            "71.0",
            "40.0",
            "41.0",
        }
    assert [page["text"] for page in pages] == [row["text"] for row in rows[::2]]


def test_the_selector_reads_accepted_ratings_of_texts_without_repeats() -> None:
    study = make_guise_study(flow=["rating", "rating", "rating", "repeat"], decide_by_checks=True)
    rate_by_variety(study, people=2)
    rows = load_guise_ratings(study)
    assert len(rows) == 2 * 3 * 2
    assert {row.item for row in rows} <= {"p1", "p2", "p3", "p4"}
    assert all(row.text == f"{row.item}-{row.variety.lower()}" for row in rows)
    assert hash_guise_ratings(rows) == hash_guise_ratings(rows[::-1])
    assert hash_guise_ratings(rows) != hash_guise_ratings(rows[1:])
    assert list_varieties(study) == ["AAL", "WME"]
    Submission.objects.update(data_decision="excluded")
    assert load_guise_ratings(study) == []
