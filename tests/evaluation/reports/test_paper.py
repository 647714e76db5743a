"""The PDF of a report: A4, with contents, every section, and provenance on a page of its own."""

from __future__ import annotations

import pypdfium2
import pytest

from evaluation.reports.rendering import render_files
from tests.evaluation.reports import contracts

pytestmark = pytest.mark.django_db

SMOKE = ("alignment", "fpr_gaps", "matched_guise")


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.smoke] * (kind in SMOKE)) for kind in contracts.KINDS],
)
def test_every_section_is_on_paper(kind):
    report = contracts.from_stored(contracts.read_json(f"{kind}.json"))
    document = contracts.lay_out(report)
    rendered = render_files(report, document)
    files = {file.name: file.content for file in rendered}
    if "report.pdf" not in files:
        pytest.skip("Pango is missing: no PDF can be made")
    assert contracts.read_files(rendered) == contracts.read_json(f"{kind}.expected.json")["files"]
    assert files["report.pdf"].startswith(b"%PDF-")
    texts = _read(files["report.pdf"])
    assert "Contents" in texts[0]
    for section in document.sections:
        assert any(section.heading in text for text in texts), section.heading
    # Provenance has the last page to itself; of many runs it takes two.
    assert any(text.startswith("Where the numbers come from") for text in texts[-2:])
    assert report.public_id in texts[-1]
    assert not any(report.public_id in text for text in texts[1:-1])


def test_every_group_stands_in_the_pdf_of_an_alignment():
    report = contracts.from_stored(contracts.read_json("alignment.json"))
    document = contracts.lay_out(report)
    files = {file.name: file.content for file in render_files(report, document)}
    if "report.pdf" not in files:
        pytest.skip("Pango is missing: no PDF can be made")
    text = " ".join(_read(files["report.pdf"]))
    assert "Every group, highest τ first" in text


def _read(pdf: bytes) -> list[str]:
    """Return the text of every page, its lines as they follow each other."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]
