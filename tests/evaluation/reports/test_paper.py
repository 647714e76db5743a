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


# How many pages the demo's report takes before its provenance, and how full the last of them is, by
# the size of the type: measured in November 2026, with short tables broken.
DEMO_PAGES = {
    1.0: (12, 0.18),
    0.94: (11, 0.03),
    1.06: (12, 0.31),
    0.97: (11, 0.1),
    1.03: (12, 0.28),
    0.91: (10, 0.41),
    1.1: (12, 0.47),
    0.88: (10, 0.35),
    1.15: (12, 0.55),
}


def test_a_text_like_the_demo_s_ends_on_a_page_that_is_half_full():
    tried = []

    def write(plan: PaperPlan) -> str:
        tried.append(plan)
        pages, share = DEMO_PAGES[plan.zoom]
        # Whole, some table leaves a page half empty whatever the size.
        shares = [0.95 if plan.is_loose else 0.45, *[0.95] * (pages - 2), share, 0.4]
        return "<!doctype html>" + "".join(
            f'<div style="break-after: page"><div style="height: {100 * part}mm"></div></div>'
            for part in shares
        )

    try:
        render_pdf(write, "@page { size: 100mm; margin: 0 } body { margin: 0 }")
    except PdfUnavailableError:
        pytest.skip("Pango is missing: no PDF can be made")
    assert (tried[-1].zoom, tried[-1].is_loose) == (1.15, True)
    assert len(tried) <= 10, "the larger sizes come early where tables may be broken"


def _read(pdf: bytes) -> list[str]:
    """Return the text of every page, its lines as they follow each other."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [" ".join(page.get_textpage().get_text_bounded().split()) for page in document]
