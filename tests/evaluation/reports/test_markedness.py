"""Markedness reports on hand-made score tables, and the line that other reports gain."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from scipy import stats

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup
from evaluation.admin.report import ReportForm
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import request_report
from tests.evaluation.reports.computing import compute

pytestmark = pytest.mark.django_db

FEW = {"resamples": 200}
TRAITS = ("powerless-powerful", "cold-warm")
# Deviations (2, 0), (2, 0), (0, 4) from the unmarked sentence.
TABLE = {"unmarked": (1.0, 1.0), "white": (3.0, 1.0), "black": (3.0, 1.0), "asian": (1.0, 5.0)}


def scores(table=TABLE):
    return {group: dict(zip(TRAITS, values, strict=True)) for group, values in table.items()}


def test_known_deviations_give_the_known_shares(scored_run):
    """By hand: the others of Asian have the mean (2, 0): 1 − (2² + 4²)/4² = −1/4. The others of
    White have (1, 2): 1 − (1² + 2²)/2² = −1/4, and so for Black. Together
    1 − (5 + 5 + 20)/(4 + 4 + 16) = −1/4.
    """
    _, document = compute("markedness", Chosen(runs=(scored_run(scores=scores()),)), **FEW)
    groups = document.frames["groups"].set_index("group")["explained"]
    assert dict(groups) == pytest.approx(dict.fromkeys(("white", "black", "asian"), -0.25))
    assert document.frames["overall"]["explained"][0] == pytest.approx(-0.25)
    traits = document.frames["traits"].set_index("trait")
    assert traits.loc["cold-warm", "effect"] == pytest.approx(4 / 3)
    # Source: scipy.stats.ttest_1samp on the groups' deviations.
    wanted = stats.ttest_1samp([0, 0, 4], 0).confidence_interval(0.95)
    assert traits.loc["cold-warm", "high"] == pytest.approx(wanted.high)
    assert traits.loc["cold-warm", "high_pole"] == "warm"


def test_run_without_the_baseline_is_refused_with_the_remedy(scored_run):
    run = scored_run(scores=scores({"white": (1.0, 2.0)}))
    with pytest.raises(ReportError, match=r"unmarked sentence\. Add the group “unmarked”"):
        compute("markedness", Chosen(runs=(run,)), **FEW)
    run.stimuli = {"groups": [{"slug": "white", "plural": "White people"}]}
    run.save()
    with pytest.raises(ReportError, match="Add the group “unmarked”"):
        request_report(kind="markedness", runs=[run])


@pytest.mark.parametrize("kind", ["markedness", "template_selection"])
def test_the_form_offers_the_runs_that_fit(scored_run, kind):
    known, alone, silent = (scored_run(scores=scores()) for _place in range(3))
    two = [{"slug": "one"}, {"slug": "two"}]
    known.stimuli = {"groups": [{"slug": "unmarked"}, {"slug": "white"}], "templates": two}
    alone.stimuli = {"groups": [{"slug": "white"}], "templates": two[:1]}
    silent.stimuli = {}
    for run in (known, alone, silent):
        run.save()
    form = ReportForm(kind=get_kind(kind), user=User.objects.create_superuser("alice"))
    offered = set(form.fields["runs"].queryset)
    assert known in offered
    assert alone not in offered
    # Where the stimuli do not say which groups, the scores do, once the report is asked for.
    assert (silent in offered) == (kind == "markedness")


def test_paired_groups_stay_out_and_are_counted(scored_run):
    group_set = GroupSet.objects.create(slug="few", title="Few")
    group_set.groups.set(SocialGroup.objects.filter(slug__in=["white", "teenager"]))
    create_paired_groups(group_set=group_set)
    table = TABLE | {"white--teenager": (9.0, 9.0)}
    _, document = compute("markedness", Chosen(runs=(scored_run(scores=scores(table)),)), **FEW)
    assert "white--teenager" not in set(document.frames["groups"]["group"])
    assert document.left_out[-1].startswith("1 paired group: ")


def test_command_prints_and_stores_the_report(scored_run, capsys):
    call_command("report", "markedness", "--run", str(scored_run(scores=scores()).pk))
    printed = capsys.readouterr().out
    for text in ("White people", "Explained by mere mention: −25 %", "powerless – powerful"):
        assert text in printed


@pytest.mark.parametrize(("with_baseline", "lines"), [(True, 1), (False, 0)])
def test_alignment_says_what_mention_explains_where_the_run_has_the_baseline(
    rated_study, scored_run, with_baseline, lines
):
    """man and woman deviate by (2, 0) and (2, 0): mention explains all of it."""
    table = {"man": (3.0, 1.0), "woman": (3.0, 1.0)}
    if with_baseline:
        table["unmarked"] = (1.0, 1.0)
    _, document = compute(
        "alignment",
        Chosen(study=rated_study(), runs=(scored_run(scores=scores(table)),)),
        resamples=100,
        splits=100,
    )
    found = [line for line in document.caveats if "mere mention explains 100 %" in line]
    assert len(found) == lines
