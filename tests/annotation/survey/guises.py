"""Small studies of guises: a corpus of pairs, and people who rate the speakers of its texts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from annotation.models import Corpus, Study, Text, TraitPair
from annotation.studies.creation import create_guise_study
from annotation.studies.lifecycle import launch_study
from tests.annotation.studies.people import allow_unsigned_links
from tests.annotation.survey.participants import InProcess, Person
from tests.probing.runs.text_fixtures import add_pair

SCALES = ("cold-warm", "poor-wealthy")
# What people do in either variety: the bodies differ in one word, and none contains another.
DEEDS = ("cook", "work", "talk", "sing", "run", "read", "paint", "swim")
_numbers = count(1)


def make_pairs(n: int = 4, **fields: Any) -> Corpus:
    """Return a corpus of ``n`` pairs; the texts of pair 1 are “p1-aal” and “p1-wme”."""
    corpus = Corpus.objects.create(
        **{"name": f"Pairs {next(_numbers)}", "license": "CC BY 4.0", **fields}
    )
    for number, deed in enumerate(DEEDS[:n], start=1):
        bodies = (f"She be {deed}in every day.", f"She usually {deed}s every day.")
        add_pair(corpus, f"p{number}", bodies)
    return corpus


def make_guise_study(
    corpus: Corpus | None = None,
    *,
    launched: bool = True,
    scales: tuple[str, ...] = SCALES,
    **options: Any,
) -> Study:
    """Return a live study of four pairs, two scales and three texts a person, unless told so."""
    study = create_guise_study(
        **{
            "title": "Who wrote this?",
            "owner": None,
            "contact_email": "lab@example.org",
            "reward_cents": 200,
            "corpus": corpus or make_pairs(),
            "trait_pairs": TraitPair.objects.filter(slug__in=scales),
            "flow": ["consent", "rating", "rating", "rating"],
            **options,
        }
    )
    allow_unsigned_links(study)
    return launch_study(study=study) if launched else study


def find_shown(page_text: str, texts: dict[str, Text]) -> str:
    """Return the slug of the text that stands on a page, "" for none."""
    return next((slug for slug, text in texts.items() if text.body in page_text), "")


def rate_by_variety(
    study: Study,
    *,
    people: int,
    raised: float = 20,
    rate: Callable[[int, str, str], float] | None = None,
) -> list[str]:
    """Let people finish the study; return the addresses of their visits.

    rate : from the person's number, the variety and the scale to a rating; without it the first
        variety is ``raised`` above the other one on each scale
    """

    def usual(number: int, variety: str, _scale: str) -> float:
        return 40 + number % 5 + (raised if variety == "AAL" else 0)

    texts = {group.body: group for group in study.instruments.get().groups.all()}
    visits = []
    for number in range(people):
        person = Person(InProcess(keeps_cookies=False), lambda _group, _scale: 50)
        assert person.start(f"{study.get_absolute_url()}?PROLIFIC_PID=g{number}").status == 302
        while (page := person.see().page).fields.get("step"):
            sent = person.fill(page)
            if page.lines:
                variety = next(texts[body].variety for body in texts if body in page.text)
                for scale, (left, right) in page.lines.items():
                    value = int((rate or usual)(number, variety, scale))
                    is_as_named = scale == f"{left}-{right}"
                    sent[f"value-{scale}"] = str(value if is_as_named else 100 - value)
            assert person.connection.post(page.action, sent).status == 302
        visits.append(person.path)
    return visits
