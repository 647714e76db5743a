"""Intersectional reports on hand-made score tables whose answers follow by hand, and on golden."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupComponent, GroupSet, SocialGroup, TraitPair
from evaluation.analyses.intersectional import FEW_ON_A_SIDE
from evaluation.metrics.undefined import UndefinedReason
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.intersectional import read_norms
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from probing.models import Run
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

# Two traits of agency, one of beliefs, one of communion.
TRAITS = ("powerless-powerful", "poor-wealthy", "conservative-liberal", "cold-warm")
RISING, FALLING = (1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0)
# Age prevails over status: every pair ranks the traits as its age does.
TABLE = {
    "teenager": RISING,
    "elderly": RISING,
    "wealthy": FALLING,
    "veteran": FALLING,
    "teenager--wealthy": (1.5, 2.5, 3.5, 9.0),
    "wealthy--teenager": (0.0, 2.5, 2.75, 4.0),
    "elderly--veteran": RISING,
}
FEW = {"resamples": 200}
NORMS = (
    "first,second,dimension,pole\nwealthy,teenager,communion,high\nteenager,wealthy,agency,high\n"
)


@pytest.fixture
def paired_run(scored_run, db):
    """Return a function that makes a run of a table of groups by the four traits."""
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(
        SocialGroup.objects.filter(slug__in=["teenager", "elderly", "wealthy", "veteran", "black"])
    )
    create_paired_groups(group_set=group_set)

    def make(table=TABLE) -> Run:
        return scored_run(
            scores={
                group: dict(zip(TRAITS, values, strict=True)) for group, values in table.items()
            }
        )

    return make


def build(run: Run, **parameters) -> Report:
    asked = request_report(kind="intersectional", runs=[run], parameters={**FEW, **parameters})
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def lay_out(run: Run, **parameters) -> Document:
    return compute("intersectional", Chosen(runs=(run,)), **{**FEW, **parameters})[1]


def table(report: Report, name: str) -> list[dict[str, str]]:
    text = bytes(report.files.get(name=f"{name}.csv").content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_known_domination_and_emergence_give_exactly_the_known_answer(paired_run):
    """All τ with age are 1 and all with status −1. By hand: warm of “teenage wealthy people” is 9
    against 4 and 1, an excess of 5; liberal 3.5 against 3 and 2, 0.5; “wealthy teenagers” are 0 on
    powerless–powerful against 1 and 4, so powerless by 1.
    """
    report = build(paired_run())
    (row,) = table(report, "domain_pairs")
    assert (row["first_domain"], row["second_domain"]) == ("age", "socioeconomic")
    numbers = [float(row[name]) for name in ("tau_first", "tau_second", "difference")]
    assert numbers == [1.0, -1.0, 2.0]
    assert (row["low"], row["interval_reason"]) == ("", FEW_ON_A_SIDE)
    assert (row["n"], row["dominant"]) == ("3", "age")
    relations = {entry["domain"]: entry for entry in table(report, "domain_relations")}
    assert relations["age"]["dominates"] == "socioeconomic"
    assert relations["socioeconomic"]["dominated_by"] == "age"
    assert [
        (entry["pair_name"], entry["adjective"], float(entry["excess"]))
        for entry in table(report, "emergent")
    ] == [
        ("teenage wealthy people", "warm", 5.0),
        ("wealthy teenagers", "powerless", 1.0),
        ("teenage wealthy people", "liberal", 0.5),
    ]
    # Only one pair has both orders: first components τ 1 and −1, mean 0; the orders agree.
    summary = {entry["component"]: entry for entry in table(report, "order_summary")}
    assert float(summary["first"]["mean_tau"]) == 0.0
    assert float(summary["best"]["mean_tau"]) == float(summary["reversed"]["mean_tau"]) == 1.0
    assert summary["reversed"]["n"] == "2"
    assert find_differences(report=report) == []


def test_both_averages_say_over_how_many(paired_run):
    """All three: first components τ 1, −1 and 1; those with both orders: 1 and −1."""
    document = lay_out(paired_run())
    both, whole = (
        document.frames[name].set_index("component")
        for name in ("order_summary", "order_summary_of_all")
    )
    assert (both.loc["first", "mean_tau"], both.loc["first", "n"]) == (0.0, 2)
    assert whole.loc["first", "mean_tau"] == pytest.approx(1 / 3)
    assert list(whole["n"]) == [3, 3, 3]


def test_a_least_excess_decides_what_emerges_but_not_the_curve(paired_run, tmp_path):
    """Excesses are 5, 1 and 0.5; of the list's group, warm (5, a hit), powerless 1, liberal 0.5.

    Of the list wealthy + teenager high communion is a hit at 5; high agency never emerges: with
    three other associations that do not either, AP = 1/2 · 1 + 1/2 · 2/4.
    """
    file = tmp_path / "norms.csv"
    file.write_text(NORMS)
    run = paired_run()
    call_command(
        "report",
        "intersectional",
        "--run",
        str(run.pk),
        "--norms",
        str(file),
        "--least-excess",
        "0.75",
    )
    report = Report.objects.get()
    assert [float(row["excess"]) for row in table(report, "emergent")] == [5.0, 1.0]
    (norms,) = table(report, "norms")
    assert (norms["n_predicted"], norms["n_hits"]) == ("2", "1")
    (curve,) = table(report, "norm_curve")
    assert float(curve["average_precision"]) == pytest.approx((1 + 2 / 4) / 2)
    assert (curve["low"], curve["interval_reason"]) == ("", UndefinedReason.RANKING)
    assert [float(row["threshold"]) for row in table(report, "norm_curve_points")] == [5.0, 1.0]
    assert find_differences(report=report) == []
    with pytest.raises(CommandError, match="least_excess"):
        call_command("report", "intersectional", "--run", str(run.pk), "--least-excess", "-1")


@pytest.mark.parametrize(("threshold", "dominant"), [(2.0, "age"), (1.9, "age")])
def test_domains_whose_means_differ_by_the_threshold_dominate(paired_run, threshold, dominant):
    document = lay_out(paired_run(), threshold=threshold)
    assert list(document.frames["domain_pairs"]["dominant"]) == [dominant]


def test_domains_below_the_threshold_do_not_dominate(paired_run):
    turned = TABLE | {"elderly--veteran": FALLING}
    # τ with age 1, 1, −1 and with status −1, −1, 1: means 1/3 and −1/3, 2/3 apart.
    document = lay_out(paired_run(turned), threshold=0.7)
    (row,) = document.frames["domain_pairs"].to_dict("records")
    assert (row["difference"], row["dominant"]) == (pytest.approx(2 / 3), "")


def test_norms_are_compared_with_all_emergent_traits_not_only_the_listed(client, paired_run):
    """Of teenager and wealthy emerge communion high, agency low, beliefs high; the list names
    communion and agency: two predictions, two expected, one in common of 1 × 2 × 2 possible.
    Precision and recall 1/2, by chance 2/4; P(at least one of two) = 1 − C(2,2)/C(4,2) = 5/6.
    """
    report = build(paired_run(), norms=NORMS, top=1)
    assert len(table(report, "emergent")) == 1
    (row,) = table(report, "norms")
    assert [float(row[name]) for name in ("precision", "recall", "chance_precision")] == [0.5] * 3
    assert float(row["p_value"]) == pytest.approx(5 / 6)
    assert [row[name] for name in ("n_predicted", "n_expected", "n_hits", "n_possible")] == [
        "2", "2", "1", "4",
    ]  # fmt: skip
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    for text in ("Which domain prevails?", "socio-economic status", "norms of 3 lines"):
        assert text in page
    for name in ("orders", "domains"):
        figure = client.get(reverse("reports:figure", args=[report.public_id, name]))
        assert figure.status_code == 200


def test_norms_of_groups_that_the_run_lacks_are_named(paired_run):
    norms = f"{NORMS}black,woman,agency,low\n"
    document = lay_out(paired_run(), norms=norms)
    assert document.left_out == (
        "Expected of black + woman: the run has no paired group of these two.",
    )


def test_every_bad_line_of_norms_is_named_and_nothing_is_stored(paired_run):
    bad = (
        "first,second,dimension,pole\n"
        "teenager,nobody,agency,high\n"
        "teenager,teenager,power,low\n"
        "teenager,wealthy,agency,middle\n"
        "wealthy,teenager\n"
        "black,woman,agency,low\n"
        "woman,black,Agency,LOW\n"
    )
    with pytest.raises(ReportError) as caught:
        request_report(kind="intersectional", runs=[paired_run()], parameters={"norms": bad})
    for text in (
        "Line 2: the library has no group “nobody”.",
        "Line 3: “teenager” is paired with itself; the dimension is “power”",
        "Line 4: the pole is “middle”",
        "Line 5: 2 cells, expected 4",
        "Line 7: the same as line 6.",
    ):
        assert text in str(caught.value)
    assert not Report.objects.exists()
    for text, named in (
        ("group,pole\n", "group,pole"),
        ("first,second,dimension,pole\n", "no ass"),
    ):
        with pytest.raises(ReportError, match=named):
            read_norms(text)


def test_pairs_without_their_components_are_left_out_and_counted(paired_run):
    lacking = {"black--teenager": RISING, "black--wealthy": RISING, "black--veteran": RISING}
    document = lay_out(paired_run(TABLE | lacking))
    assert document.left_out == (
        "3 paired groups: their component “black” has no scores in the run.",
    )
    assert len(document.frames["orders"]) == 3


def test_run_without_paired_groups_is_refused_with_the_remedy(paired_run):
    run = paired_run({slug: TABLE[slug] for slug in ("teenager", "wealthy")})
    report = request_report(kind="intersectional", runs=[run], parameters=FEW)
    built = build_report(report_id=report.pk)
    assert built is not None
    assert "scores no paired group. Create the paired groups" in built.error
    run.stimuli = {"groups": [{"slug": "teenager", "plural": "teenagers"}]}
    run.save()
    with pytest.raises(ReportError, match="scores no paired group"):
        request_report(kind="intersectional", runs=[run])


def test_command_reads_norms_from_a_file(paired_run, tmp_path):
    run = paired_run()
    norms = tmp_path / "norms.csv"
    norms.write_text("\ufeff" + NORMS)
    out = io.StringIO()
    call_command(
        "report", "intersectional", "--run", str(run.pk), "--norms", str(norms), "--resamples",
        "200", stdout=out,
    )  # fmt: skip
    printed = out.getvalue()
    for text in ("teenage wealthy people", "Dominated by", "Precision against the list: 0.50"):
        assert text in printed
    with pytest.raises(CommandError, match="cannot be read as text"):
        call_command("report", "intersectional", "--norms", str(tmp_path / "none.csv"), stdout=out)


def test_form_takes_norms_as_text_and_says_what_is_wrong(client, paired_run):
    run = paired_run()
    client.force_login(User.objects.create_superuser("boss"))
    address = reverse("admin:evaluation_report_add") + "?kind=intersectional"
    page = client.get(address).content.decode()
    assert '<textarea name="norms"' in page
    sent = {
        "runs": run.pk, "resamples": 200, "seed": 0, "level": 0.95, "threshold": 0.1, "top": 50,
        "norms": "first,second,dimension,pole\nnobody,wealthy,agency,low", "title": "",
    }  # fmt: skip
    assert (
        "Line 2: the library has no group “nobody”" in client.post(address, sent).content.decode()
    )
    client.post(address, sent | {"norms": NORMS})
    assert Report.objects.get().parameters["norms"].count("wealthy") == 2


@pytest.mark.shared
def test_report_matches_golden_orders_domains_and_emergence(shared_dir, scored_run):
    """Source: intersectional.json, made with scipy from the published definitions."""
    golden = json.loads((shared_dir / "golden/expected/intersectional.json").read_text())
    traits = list(TraitPair.objects.values_list("slug", flat=True))
    scores = {
        name.lower(): dict(zip(traits, values, strict=True))
        for name, values in golden["component_scores"].items()
    }
    slugs = {}
    for name, values in golden["paired_scores"].items():
        first, second = name.lower().split("|")
        slugs[name] = slug = f"golden-{first}-{second}"
        forms = {"singular": slug, "plural": slug, "plural_capitalised": slug}
        group = SocialGroup.objects.create(slug=slug, **forms)
        for position, component in enumerate((first, second), start=1):
            GroupComponent.objects.create(
                group=group,
                component=SocialGroup.objects.get(slug=component),
                position=position,
            )
        scores[slug] = dict(zip(traits, values, strict=True))
    document = lay_out(scored_run(scores=scores), top=1000)
    orders = {row["pair"]: row for row in document.frames["orders"].to_dict("records")}
    emergent = {
        (row["pair"], row["trait"], row["pole"]): row["excess"]
        for row in document.frames["emergent"].to_dict("records")
    }
    expected = {}
    for name, wanted in golden["results"].items():
        row = orders[slugs[name]]
        for ours, theirs in (
            ("tau_first", "tau_first"),
            ("tau_second", "tau_second"),
            ("tau_best", "tau_best"),
            ("tau_reversed", "tau_reversed_order"),
        ):
            assert row[ours] == pytest.approx(wanted[theirs], abs=1e-9)
        for trait, above, below in zip(
            traits, wanted["emergent_above_max"], wanted["emergent_below_min"], strict=True
        ):
            if above > 0:
                expected[slugs[name], trait, "high"] = above
            if below < 0:
                expected[slugs[name], trait, "low"] = -below
    assert emergent == pytest.approx(expected, abs=1e-9)
    found = {
        frozenset((row["first_domain"], row["second_domain"])): row
        for row in document.frames["domain_pairs"].to_dict("records")
    }
    for name, wanted in golden["dominance"].items():
        domains = name.replace("socio-economic", "socioeconomic").split("|")
        row = found[frozenset(domains)]
        order = ("first", "second") if row["first_domain"] == domains[0] else ("second", "first")
        for side, which in zip(order, ("first", "second"), strict=True):
            assert row[f"tau_{side}"] == pytest.approx(wanted[f"mean_tau_{which}_domain"], abs=1e-9)
        dominant = (wanted["dominant"] or "").replace("socio-economic", "socioeconomic")
        assert row["dominant"] == dominant
