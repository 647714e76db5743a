"""The PDF of a report: no page but the last is under half full, and everything stands in it."""

from __future__ import annotations

import pypdfium2
import pytest

from evaluation.reports.pdf import PaperPlan, PdfUnavailableError, render_pdf
from evaluation.reports.rendering import render_files
from tests.evaluation.reports import contracts
from tests.evaluation.reports.paper_pages import page_fills

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("full_pages")]


@pytest.mark.slow
@pytest.mark.parametrize("kind", contracts.KINDS)
def test_no_page_but_the_last_is_under_half_full(kind):
    report = contracts.from_stored(contracts.read_json(f"{kind}.json"))
    document = contracts.lay_out(report)
    rendered = render_files(report, document)
    files = {file.name: file.content for file in rendered}
    if "report.pdf" not in files:
        pytest.skip("Pango is missing: no PDF can be made")
    assert contracts.read_files(rendered) == contracts.read_json(f"{kind}.expected.json")["files"]
    assert files["report.pdf"].startswith(b"%PDF-")
    fills = page_fills(files["report.pdf"])
    assert len(fills) > 1
    assert min(fills[:-1]) >= 0.5, fills
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


def test_pages_that_nothing_fills_are_laid_out_twelve_times_at_most():
    """A layout of a long report takes a second, and the report is waited for."""
    tried = []

    def write(plan: PaperPlan) -> str:
        tried.append(plan)
        page = '<p style="break-after: page">Three words stand here.</p>'
        return f"<!doctype html><html><body>{page * 3}<p>Provenance</p></body></html>"

    try:
        content = render_pdf(write, "")
    except PdfUnavailableError:
        pytest.skip("Pango is missing: no PDF can be made")
    assert len(_read(content)) == 4
    assert 1 < len(tried) <= 12
    assert {plan.is_loose for plan in tried} == {False, True}


def _read(pdf: bytes) -> list[str]:
    """Return the text of every page, its lines as they follow each other."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]
