"""Reports are asked for on a page of the admin."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Report
from evaluation.reports.registry import KINDS

pytestmark = pytest.mark.django_db


def test_report_is_asked_for_in_the_admin(client, rated_study, scored_run):
    client.force_login(User.objects.create_superuser("boss"))
    study, run = rated_study(), scored_run()
    data = {"study": study.pk, "runs": run.pk, "resamples": 100, "splits": 100, "seed": 3}
    response = client.post(reverse("admin:evaluation_report_add") + "?kind=alignment", data)
    report = Report.objects.get()
    assert response.status_code == 302
    assert response["Location"] == reverse("reports:page", args=[report.public_id])
    assert report.parameters["seed"] == 3


def test_bad_option_is_named_at_its_field(client, rated_study, scored_run):
    client.force_login(User.objects.create_superuser("boss"))
    data = {"study": rated_study().pk, "runs": scored_run().pk, "resamples": 5, "splits": 100}
    page = client.post(
        reverse("admin:evaluation_report_add") + "?kind=alignment", data
    ).content.decode()
    assert "greater than or equal to 100" in page
    assert not Report.objects.exists()


def test_a_fraction_out_of_range_is_named_by_its_label_at_its_field(
    client, rated_study, scored_run
):
    client.force_login(User.objects.create_superuser("boss"))
    data = {"study": rated_study().pk, "runs": scored_run().pk, "resamples": 100, "level": "95"}
    response = client.post(reverse("admin:evaluation_report_add") + "?kind=alignment", data)
    # 95 is no share: the schema wants more than 0.5 and less than 1.
    assert response.context["form"].errors == {
        "level": ["“Coverage of intervals” is “95”, expected less than 1."]
    }
    assert not Report.objects.exists()


def list_sections(client) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    sections = client.get(reverse("admin:evaluation_report_add")).context["sections"]
    return {
        subject: [(offered.kind.name, offered.missing) for offered in kinds]
        for subject, kinds in sections
    }


def test_kinds_stand_in_four_sections_and_say_what_is_missing(client, rated_study, scored_run):
    client.force_login(User.objects.create_superuser("boss"))
    empty = list_sections(client)
    assert list(empty) == ["People", "People and models", "Texts and their speakers", "Classifiers"]
    assert sum(map(len, empty.values())) == len(KINDS)
    assert all(missing for kinds in empty.values() for _name, missing in kinds)
    assert dict(empty["People"])["rating_agreement"][0].startswith(
        "No study fits yet. Studies with"
    )

    rated_study()
    scored_run()
    page = client.get(reverse("admin:evaluation_report_add")).content.decode()
    for subject in empty:
        assert f"<h2>{subject}</h2>" in page
    found = list_sections(client)
    # What the data allow comes first.
    assert found["People"][0] == ("rating_agreement", ())
    assert dict(found["People and models"])["alignment"] == ()
    assert dict(found["People and models"])["alignment_comparison"] == (
        "Needs 2 runs; there is 1 that fits.",
    )
    for kinds in found.values():
        ready = [not missing for _name, missing in kinds]
        assert ready == sorted(ready, reverse=True)
    assert all(missing for _name, missing in found["Classifiers"])
