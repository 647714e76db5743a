"""Markdown in the texts of a study: emphasis, lists, links and headings, and nothing else of it.

What else a text holds, HTML included, is shown as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

RULES = ("emphasis", "escape", "heading", "link", "list", "newline")
LINK_SCHEMES = frozenset({"http", "https", "mailto"})
LOWEST_HEADING = 4
MOST_KEPT = 256


def is_safe_link(address: str) -> bool:
    """Return whether a link leads to a page elsewhere or to somebody's mail."""
    try:
        return urlsplit(address).scheme in LINK_SCHEMES
    except ValueError:
        return False


def _open_heading(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """The page's own heading stands above all headings of its text."""
    token = tokens[at]
    level = min(LOWEST_HEADING, int(token.tag[1]) + env["below"])
    end = "/" if token.nesting < 0 else ""
    return f"<{end}h{level}>" + ("\n" if end else "")


def _open_link(
    renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    """A link opens beside the page, which nobody shall lose, and says nothing of where it stood."""
    token = tokens[at]
    token.attrSet("rel", "noopener noreferrer")
    if not str(token.attrGet("href")).startswith("mailto:"):
        token.attrSet("target", "_blank")
    return renderer.renderToken(tokens, at, options, env)


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 - its name in the library
        return is_safe_link(url)


def _build() -> MarkdownIt:
    parser = _Parser("zero", {"html": False, "breaks": True}).enable(list(RULES))
    for rule, function in (
        ("heading_open", _open_heading),
        ("heading_close", _open_heading),
        ("link_open", _open_link),
    ):
        parser.add_render_rule(rule, function)
    return parser


_PARSER = _build()


@lru_cache(maxsize=MOST_KEPT)
def render_markdown(text: str, below: int = 1) -> SafeString:
    """Return ``text`` as HTML; its highest headings are one level lower than heading ``below``."""
    env: dict[str, Any] = {"below": below}
    return mark_safe(_PARSER.render(text, env))  # noqa: S308 - the parser escapes all else
