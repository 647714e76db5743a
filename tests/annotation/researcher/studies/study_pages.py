"""The page of a study for tests: its address, words, buttons and forms."""

from __future__ import annotations

import re

from django.test import Client
from django.urls import reverse

from annotation.models import SocialGroup, Study, TraitPair


def overview(study: Study) -> str:
    return reverse("admin:annotation_study_overview", args=[study.pk])


def act(client: Client, study: Study, action: str) -> str:
    address = reverse("admin:annotation_study_action", args=[study.pk, action])
    sent = {"confirmed": "yes"} if action in {"launch", "launch-with-pilot", "close"} else {}
    return client.post(address, sent, follow=True).content.decode()


def text_of(page: str) -> str:
    """Return a page's words with single blanks, tags left out."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def new_study_values(**changes: object) -> dict[str, object]:
    values: dict[str, object] = {
        "title": "Spring",
        "contact_email": "lab@example.org",
        "ethics_reference": "",
        "quota_per_group": 12,
        "quota_rule": "hard",
        "reservation_minutes": 30,
        "pilot_places": 10,
        "panel": "prolific",
        "reward_cents": 250,
        "currency": "gbp",
        "estimated_minutes": 9,
        "withdraw_until": "",
        "single_groups": list(
            SocialGroup.objects.filter(
                slug__in=["woman", "man", "veteran", "teenager", "average"]
            ).values_list("pk", flat=True)
        ),
        "trait_pairs": list(
            TraitPair.objects.filter(dimension="agency").values_list("pk", flat=True)
        ),
        "scale_order": "fixed",
        "pole_sides": "fixed",
        "show_ticks": "on",
        "skipping": "line",
    }
    return values | changes


def settings_values(study: Study, **changes: object) -> dict[str, object]:
    values: dict[str, object] = {
        "title": study.title,
        "contact_email": study.contact_email,
        "ethics_reference": "",
        "quota_per_group": 30,
        "quota_rule": "soft",
        "reservation_minutes": 20,
        "pilot_places": 10,
        "reward_cents": 300,
        "estimated_minutes": 8,
        "withdraw_until": "",
        "memberships-TOTAL_FORMS": 0,
        "memberships-INITIAL_FORMS": 0,
        **{f"code_{outcome}": code for outcome, code in study.completion_codes.items()},
    }
    return values | changes
