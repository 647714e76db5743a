"""How a report is laid out on paper: where pages stay empty, and what is drawn smaller for it."""

from __future__ import annotations

import pytest

from evaluation.reports.pdf import (
    PaperPlan,
    PdfUnavailableError,
    import_weasyprint,
    improve,
    measure_page,
)

# A picture four times as high as wide, after something that leaves it 60 % of a page.
PAGE = """<style>
@page {{ size: 100mm 120mm; margin: 10mm }} body, p, figure {{ margin: 0 }}
div {{ height: 40mm }}
img {{ display: block; width: {width}%; height: auto; max-height: 90mm; object-fit: contain }}
</style><div></div><figure id="figure-1"><img src='data:image/svg+xml,
<svg xmlns="http://www.w3.org/2000/svg" width="100" height="400"><rect width="9" height="9"/></svg>
'></figure>"""


def measure(width: int):
    try:
        weasyprint = import_weasyprint()
    except PdfUnavailableError as error:
        pytest.skip(str(error))
    pages = weasyprint.HTML(string=PAGE.format(width=width)).render().pages
    return [measure_page(page) for page in pages]


def test_a_tall_figure_is_drawn_smaller_until_it_fits():
    """Its height is limited, so that only a width below what is drawn of it makes it smaller."""
    apart = [*measure(100), *measure(100)[1:]]  # the last page is never judged
    figure = apart[1].figure
    assert figure is not None
    # 90 mm high, so 22.5 of 80 mm wide.
    assert figure.width == pytest.approx(28.1, abs=0.1)
    plan = improve(PaperPlan(), apart)
    # 60 of 90 mm are left: 97 % of that.
    assert plan == PaperPlan(widths={1: int(28.125 * 0.97 * 60 / 90)})
    assert len(measure(plan.widths[1])) == 1
    # Once is enough: the next plan puts it after the next text, as large as it was.
    moved = improve(plan, apart)
    assert moved == PaperPlan(later=frozenset({1}))
    # There it may be drawn smaller again; then there is no other plan.
    again = improve(moved, apart)
    assert again == PaperPlan(widths=plan.widths, later=frozenset({1}))
    assert improve(again, apart) is None
