"""What a paper on a report cites: BibTeX that a strict reader takes, with nothing forgotten."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.reports.parts.references import (
    BY_KIND,
    BY_MEASURE,
    find_references,
    prompting_sentences,
    read_publications,
    to_bibtex,
)
from probing.measures.registry import MEASURES
from tests.evaluation.reports import contracts

HEAD = re.compile(r"@([a-z]+)\{([a-z0-9-]+),\n")
FIELD = re.compile(r" {2}([a-z]+) = \{")


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Return the fields of every entry by its key; raises where a brace or comma is missing."""
    entries: dict[str, dict[str, str]] = {}
    at = 0
    while at < len(text):
        head = HEAD.match(text, at)
        assert head, text[at : at + 80]
        fields = entries[head[2]] = {"entry": head[1]}
        at = head.end()
        while not text.startswith("}\n", at):
            field = FIELD.match(text, at)
            assert field, text[at : at + 80]
            start, depth, at = field.end(), 1, field.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(text[at], 0) if text[at - 1] != "\\" else 0
                at += 1
            fields[field[1]] = text[start : at - 1]
            at += 1 if text[at] == "," else 0
            assert text[at] == "\n", text[at : at + 80]
            at += 1
        at += 2
        at += 1 if text.startswith("\n", at) else 0
    return entries


def test_every_kind_and_every_measure_has_its_sources():
    assert BY_KIND.keys() == contracts.KINDS.keys()
    assert BY_MEASURE.keys() == MEASURES.keys()
    used = {key for keys in (*BY_KIND.values(), *BY_MEASURE.values()) for key in keys}
    assert used | {"bender2018data"} == read_publications().keys()


def test_publications_are_whole():
    for key, text in read_publications().items():
        fields = read_bibtex(text)[key]
        assert {"author", "title", "year"} <= fields.keys(), key
        assert fields["year"] in key


@pytest.mark.django_db
@pytest.mark.parametrize("kind", sorted(contracts.KINDS))
def test_references_of_every_kind_are_read(kind):
    report = contracts.from_stored(contracts.read_json(f"{kind}.json"))
    entries = read_bibtex(to_bibtex(report).decode())
    assert list(entries) == list(find_references(report))
    assert entries["stereoscope"]["version"] == report.code_version
    for run in [report.inputs["run"]] if "run" in report.inputs else report.inputs.get("runs", []):
        assert any(f"{{{run['model']}}}" == entry["title"] for entry in entries.values())


@pytest.mark.django_db
def test_methods_and_references_stand_on_the_page(client):
    report = contracts.from_stored(contracts.read_json("alignment.json"))
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    assert f"report {report.public_id}." in page
    assert "cao2022theory" in page
    file = client.get(reverse("reports:references", args=[report.public_id]))
    assert file["Content-Disposition"].endswith('references.bib"')
    assert "kendall1945treatment" in read_bibtex(file.content.decode())


def test_the_text_on_methods_says_how_prompts_were_put() -> None:
    raw = {"model": "a", "parameters": {"prompting": "raw"}}
    chat = {"model": "b", "parameters": {"prompting": "chat", "system_message": "Be terse."}}
    assert prompting_sentences([{"model": "c", "parameters": {"prior": "mask"}}]) == []
    assert prompting_sentences([raw, raw]) == [
        "Prompts are put as they stand, without a chat template."
    ]
    first, second = prompting_sentences([raw, chat])
    assert first.startswith("a: Prompts are put as they stand")
    assert second.startswith(
        "b: Prompts are put through the model's chat template, with the system"
    )
    assert "“Be terse.”" in second
