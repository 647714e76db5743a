"""What the papers print beside what comes out here."""

from __future__ import annotations

import csv
import re
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Study
from evaluation.models import Report
from evaluation.reproductions.items import Status, Value
from evaluation.reproductions.papers import PAPERS
from probing.models import Run

FILES = {"cao2022": "cao-2022", "deas2023": "deas-2023", "hofmann2024": "hofmann-2024"}


def run(*items: str, **options: Any) -> str:
    out = StringIO()
    call_command("reproduce", *items, stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize(
    ("ours", "published", "decimals", "tolerance", "status"),
    [
        (0.2065410147, 0.207, 3, 0, Status.REPRODUCED),
        (0.2064, 0.207, 3, 0, Status.DIFFERS),
        (0.2064, 0.207, 3, 0.001, Status.CLOSE),
        (0.1995, 0.2, 3, 0, Status.REPRODUCED),
        (None, 0.2, 3, 0, Status.NO_RESULT),
        ("lazy, loud", "lazy, loud", 3, 0, Status.REPRODUCED),
        ("loud, lazy", "lazy, loud", 3, 0, Status.DIFFERS),
    ],
)
def test_a_value_is_reproduced_if_it_rounds_to_what_is_printed(
    ours: Any, published: Any, decimals: int, tolerance: float, status: Status
) -> None:
    assert Value("", published, ours, decimals, tolerance).status is status


@pytest.mark.shared
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_numbered_table_and_figure_of_a_paper_is_listed(shared_dir: Path, paper: Any) -> None:
    """By the captions in the papers' texts; some lost theirs, so that more may be listed."""
    file = next((shared_dir / "papers").glob(f"{FILES.get(paper.name, paper.name)}*.txt"))
    captions = re.findall(
        r"^[#* ]*(Extended Data )?(Table|Fig(?:ure|\.)) (A?\d+)\s?[|:]",
        file.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    printed = {
        f"{'ed-' if extended else ''}{'table' if kind == 'Table' else 'figure'}-{number.lower()}"
        for extended, kind, number in captions
    }
    assert len(printed) >= 8
    assert printed <= {item.name for item in paper.items}
    assert all(item.compute or item.reason for item in paper.items)


@pytest.mark.shared
@pytest.mark.django_db
def test_what_is_released_gives_what_is_printed(shared_dir: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    lines = run(all=True, data=shared_dir / "data", markdown=page).splitlines()
    assert len(lines) == sum(len(paper.items) for paper in PAPERS) + 1
    told = {line.split()[0]: line for line in lines}
    assert "22 of 22 reproduced." in told["kohankhaki/table-4"]
    # README of the data: two means of women differ in the released table.
    assert "414 of 416 reproduced, 2 differ." in told["cao2022/released-means"]
    # published_values.json: the printed intervals are of 99 %, the text says 95 %.
    assert "4 of 8 reproduced, 4 differ." in told["deas2023/table-3"]
    assert "1 of 1 reproduced." in told["hofmann2024/ed-table-4"]
    assert "0.0117" in told["hofmann2024/figure-2"]
    assert page.read_text(encoding="utf-8").count("\n| ") == len(lines) - 1 + 2 * len(PAPERS)


@pytest.mark.shared
@pytest.mark.django_db
def test_a_changed_number_is_found(shared_dir: Path, tmp_path: Path) -> None:
    for file in (shared_dir / "data" / "fpr_gap" / "stats_files").glob("*.csv"):
        shutil.copy(file, tmp_path)
    changed = tmp_path / "regard_gaps.csv"
    text = changed.read_text(encoding="utf-8")
    # A gap that widens a span by far.
    first = re.search(r"^Llama-3-8B,\w+,([^,]+),", text, re.MULTILINE)
    assert first
    changed.write_text(text.replace(first[1], "0.5", 1), encoding="utf-8")
    told = run("kohankhaki/table-4", data=tmp_path)
    assert "21 of 22 reproduced, 1 differ." in told


@pytest.mark.django_db
def test_without_files_the_reason_names_them(tmp_path: Path) -> None:
    assert "amazon_gaps.csv: no folder given (--data, or RELEASED_FILES)." in run(
        "kohankhaki/table-4"
    )
    assert f"amazon_gaps.csv: not in {tmp_path}." in run("kohankhaki/table-4", data=tmp_path)
    told = run("cao2022/table-6")
    assert "manage.py report alignment" in told


@pytest.mark.django_db
def test_what_is_not_there_is_refused_with_what_is(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no paper “cao”. Choose one of: cao2022, "):
        run("cao/table-6")
    with pytest.raises(CommandError, match=r"no item “table-7”. Choose one of: .*table-6"):
        run("cao2022/table-7")
    with pytest.raises(CommandError, match="is not a folder"):
        run("cao2022", data=tmp_path / "none")
    assert "cao2022/table-6" in run()


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.django_db
def test_tables_of_alignment_are_those_of_the_newest_report(
    shared_dir: Path, client: Client
) -> None:
    """A tiny model has other values than the paper's; they are its report's own."""
    ratings = shared_dir / "data" / "us_stereotypes" / "data_full.json"
    call_command("import_abc_ratings", str(ratings), "--owner", "", stdout=StringIO())
    model = shared_dir / "golden" / "models" / "tiny-roberta"
    call_command("probe", "--measure", "set", "--local", "--model", str(model), stdout=StringIO())
    call_command(
        *("report", "alignment", "--study", Study.objects.get().public_id),
        *("--run", str(Run.objects.get().pk), "--resamples", "100"),
        stdout=StringIO(),
    )
    result = Report.objects.get().result
    assert result
    told = run("cao2022/table-6")
    tau = f"{result['pooled']['tau']['value']:.4f}".replace("-", "−")
    assert tau in told
    assert "14 without a result" in told
    by_group = run("cao2022/table-a11")
    for line in result["by_group"]:
        assert f"{line['tau']['value']:.4f}".replace("-", "−") in by_group
    assert "of 25 " in by_group
    # Only who may see the study sees its τ.
    reader = User.objects.create_user("outside", is_staff=True)
    client.force_login(reader)
    address = "/admin/reproductions/cao2022/table-6/"
    assert client.get(address).status_code == 403
    reader.user_permissions.add(Permission.objects.get(codename="view_report"))
    assert "There is no alignment report" in client.get(address).content.decode()
    User.objects.filter(pk=reader.pk).update(is_superuser=True)
    assert tau in client.get(address).content.decode()


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.django_db
def test_imported_predictions_give_the_printed_accuracies(shared_dir: Path) -> None:
    """Two of the ten models of Table 3; of each the mean and the SD over five runs."""
    file = shared_dir / "golden" / "data" / "fpr_amazon.csv"
    call_command("import_predictions", str(file), "--data-set", "amazon", stdout=StringIO())
    for imported in Run.objects.all():
        call_command("report", "fpr_gaps", "--run", str(imported.pk), stdout=StringIO())
    told = run("kohankhaki/table-3")
    assert "4 of 20 reproduced, 16 without a result" in told
    assert "Some models have no report." in told


@pytest.mark.shared
def test_the_pages_show_what_the_command_prints(
    admin_client: Client, shared_dir: Path, settings: Any
) -> None:
    """Deas et al. (2023), Table 3: the printed .259 is the lower end at 99 %."""
    settings.RELEASED_FILES = shared_dir / "data"
    page = admin_client.get("/admin/reproductions/").content.decode()
    assert "414 of 416 reproduced, 2 differ" in page
    assert "examples, definitions, settings) are not listed" in page
    item = admin_client.get("/admin/reproductions/deas2023/table-3/").content.decode()
    assert "4 of 8 reproduced, 4 differ" in item
    assert "AAL, lower end at 99%" in item
    assert "0.259" in item
    rows = list(
        csv.DictReader(
            StringIO(admin_client.get("/admin/reproductions/values.csv").content.decode())
        )
    )
    assert {row["paper"] for row in rows} == {paper.name for paper in PAPERS}
    assert sum(row["item"] == "released-means" for row in rows) == 416
    assert all(row["status"] != "no result" or row["reason"] for row in rows)


def test_an_item_says_what_to_run_before(admin_client: Client) -> None:
    page = admin_client.get("/admin/reproductions/cao2022/table-6/").content.decode()
    assert "Run this first" in page
    assert "manage.py probe" in page


@pytest.mark.parametrize("address", ["cao2022/table-99", "cao2023/table-6", "cao2022/table-1"])
def test_unknown_items_and_those_without_numbers_have_no_page(
    admin_client: Client, address: str
) -> None:
    assert admin_client.get(f"/admin/reproductions/{address}/").status_code == 404
