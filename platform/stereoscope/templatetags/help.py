"""Help where one stands: the page that fits, and words of the glossary as popovers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from django import template
from django.template.context import Context
from django.urls import reverse

from stereoscope.documentation.site import DOCS

# --- The words of `docs/glossary.md`, the single place where they are explained

HEADING = re.compile(r"^## (.+)$")
ROW = re.compile(r"^\| (?P<words>[^|]+) \| (?P<meaning>[^|]+) \| (?P<instead>[^|]*)\|$")


@dataclass(frozen=True)
class Term:
    """A word as the glossary explains it; ``anchor`` is the part of the page that holds it."""

    word: str
    meaning: str
    anchor: str


@cache
def read_glossary() -> dict[str, Term]:
    """Return every word with its meaning; words of one row share theirs."""
    terms: dict[str, Term] = {}
    anchor = ""
    for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            anchor = heading[1].lower().replace(" ", "-")
        elif (row := ROW.match(line)) and anchor and row["words"].strip() not in {"word", "---"}:
            meaning = row["meaning"].replace("`", "").strip()
            for word in row["words"].split(","):
                terms[word.strip()] = Term(word.strip(), meaning, anchor)
    return terms


# --- Which page of the documentation helps on which page of the program

START = "index.html"
ACCOUNTS = "operations/accounts.html"
#: Beginning of an address's name → page; the longest beginning decides.
PAGES = {
    "admin:index": "first-hour.html",
    "admin:annotation_study": "studies/index.html",
    "admin:annotation_study_add": "studies/group-ratings.html",
    "admin:annotation_study_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_study_change": "studies/group-ratings.html",
    "admin:annotation_study_changelist": "studies/index.html",
    "admin:annotation_study_instrument": "study-designer.html",
    "admin:annotation_study_export": "exports.html",
    "admin:annotation_study_margins": "dashboard.html#targets",
    "admin:annotation_study_money": "studies/group-ratings.html#what-you-decide",
    "admin:annotation_study_overview": "dashboard.html",
    "admin:annotation_study_panel": "studies/group-ratings.html#what-you-decide",
    "admin:annotation_study_colleagues": "colleagues.html",
    "admin:annotation_study_join": "colleagues.html#inviting",
    "admin:annotation_team": "colleagues.html#teams",
    "admin:annotation_guise": "guise-ratings.html",
    "admin:annotation_instrument": "study-designer.html",
    "admin:annotation_instrument_languages": "languages.html",
    "admin:annotation_submission": "quality.html",
    "admin:annotation_writingstudy": "studies/writing.html",
    "admin:annotation_writingstudy_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_writingstudy_colleagues": "colleagues.html",
    "admin:annotation_judgmentstudy": "studies/judging.html",
    "admin:annotation_judgmentstudy_colleagues": "colleagues.html",
    "admin:annotation_judgmentstudy_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_corpus": "studies/writing.html",
    "admin:annotation_groupset": "stimuli.html",
    "admin:annotation_libraryquestion": "study-designer.html#a-library-of-questions",
    "admin:annotation_socialgroup": "stimuli.html",
    "admin:annotation_traitpair": "stimuli.html",
    "admin:annotation_groupexclusion": "stimuli.html",
    "admin:probing_run": "measures.html",
    "admin:probing_run_import": "imports.html",
    "admin:probing_languagemodel": "measures.html",
    "admin:probing_template": "stimuli.html",
    "admin:probing_wordlist": "stimuli.html#word-lists",
    "admin:probing_prompt": "matched-guise.html#2-prompts-and-attributes",
    "admin:probing_labeledtemplateset": "fpr-gaps.html#1-sentences",
    "admin:probing_grouplexicon": "fpr-gaps.html#1-sentences",
    "admin:probing_labeledtextset": "fpr-gaps.html#a-classifier-of-our-own",
    "admin:evaluation_report": "reports.html",
    "admin:evaluation_norm": "matched-guise.html#3-norms",
    "admin:auth": ACCOUNTS,
    "admin:axes": f"{ACCOUNTS}#when-something-is-locked",
    "admin:stereoscope_apitoken": f"{ACCOUNTS}#api-tokens",
    "health": "deployment.html#health",
    "security": f"{ACCOUNTS}#a-second-factor",
    "second-factor": f"{ACCOUNTS}#a-second-factor",
    "reports:": "reports.html",
    "reproduction": "reproductions.html",
}


def find_help_page(name: str) -> str:
    """Return the page, perhaps with an anchor, for the address of that name."""
    known = [start for start in PAGES if name.startswith(start)]
    return PAGES[max(known, key=len)] if known else START


# --- Tags

register = template.Library()


@register.simple_tag(takes_context=True)
def help_address(context: Context) -> str:
    """Return the address of the page of the documentation that fits the page that is shown.

    A report has the page of its kind, a run that of its measure, everything else that of its name.
    """
    for folder, of in (
        ("reports", getattr(context.get("report"), "kind", "")),
        ("measures", getattr(context.get("run"), "measure", "")),
    ):
        if of and (DOCS / folder / f"{of}.md").exists():
            return docs_address(f"{folder}/{of}.html")
    request = context.get("request")
    match = request.resolver_match if request is not None else None
    return docs_address(find_help_page(match.view_name if match is not None else ""))


def docs_address(page: str) -> str:
    """Return the address of a page such as ``reports/alignment.html``, perhaps with an anchor."""
    path, mark, anchor = page.partition("#")
    return f"{reverse('docs-page', args=[path])}{mark}{anchor}"


@register.inclusion_tag("stereoscope/term.html", takes_context=True)
def term(context: Context, word: str) -> dict[str, Any]:
    """Explain a word of the glossary beside it: a button, and a text that it shows.

    The word has to be there: `KeyError` where the glossary lacks it.
    """
    found = read_glossary()[word]
    page: Any = context.render_context  # of this page alone, and untyped
    shown: list[str] = page.setdefault("terms shown", [])
    shown.append(word)
    return {
        "word": found.word,
        "meaning": found.meaning,
        "address": docs_address(f"glossary.html#{found.anchor}"),
        "id": f"term-{'-'.join(word.split())}-{shown.count(word)}",
    }
