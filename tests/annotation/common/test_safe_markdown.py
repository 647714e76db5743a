"""Markdown in the texts of a study: what it may become, and that nothing else comes of any text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from annotation.common.safe_markdown import is_safe_link, render_markdown

TAGS = {"p", "br", "em", "strong", "ul", "ol", "li", "a", "h2", "h3", "h4"}
PIECES = st.sampled_from(
    [
        "# ",
        "- ",
        "1. ",
        "*",
        "**",
        "_",
        "[",
        "](",
        ")",
        "javascript:",
        "https://a.org",
        "mailto:a@b",
        "<script>",
        "<img src=x onerror=y>",
        '"',
        "'",
        "&lt;",
        "\n",
        "\n\n",
        " ",
        "a",
        "`",
        "!",
        "\\",
    ]
)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@given(st.lists(PIECES | st.text(max_size=5), max_size=30).map("".join))
def test_no_text_becomes_more_than_the_subset(text: str) -> None:
    reader = Reader()
    reader.feed(render_markdown(text))
    for tag, attributes in reader.found:
        assert tag in TAGS, text
        assert set(attributes) <= ({"href", "rel", "target"} if tag == "a" else {"start"})
        if tag == "a":
            assert is_safe_link(attributes["href"] or "")
            assert attributes["rel"] == "noopener noreferrer"


def test_the_subset() -> None:
    html = render_markdown("# One\n\nA *b*, **c**\nd: [e](https://f.org)\n\n1. x\n2. <i>y</i>")
    assert re.sub(r"\n", "", html) == (
        "<h2>One</h2><p>A <em>b</em>, <strong>c</strong><br>d: "
        '<a href="https://f.org" rel="noopener noreferrer" target="_blank">e</a></p>'
        "<ol><li>x</li><li>&lt;i&gt;y&lt;/i&gt;</li></ol>"
    )
    assert render_markdown("## Two", 3) == "<h4>Two</h4>\n"
    assert "<a" not in render_markdown("[x](javascript:alert) [y](//z.org) [z](/admin/)")
