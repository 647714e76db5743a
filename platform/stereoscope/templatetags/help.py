"""Help where one stands: the page that fits, and words of the glossary as popovers."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import Context
from django.urls import reverse

from stereoscope.documentation.glossary import read_glossary
from stereoscope.documentation.help_pages import find_help_page
from stereoscope.documentation.paths import DOCS

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
    shown = context.render_context.setdefault("terms shown", [])
    shown.append(word)
    return {
        "word": found.word,
        "meaning": found.meaning,
        "address": docs_address(f"glossary.html#{found.anchor}"),
        "id": f"term-{'-'.join(word.split())}-{shown.count(word)}",
    }
