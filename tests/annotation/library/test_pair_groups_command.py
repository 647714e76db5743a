"""The command that makes the paired groups of a set."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.library.paired_groups import plan_pairs
from annotation.models import GroupSet, SocialGroup
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db


def test_the_readmes_command_works_on_a_fresh_install():
    (line,) = [
        line for line in (ROOT / "README.md").read_text().splitlines() if "pair_groups" in line
    ]
    command, name, *_ = line.split("manage.py ")[1].split()
    said = StringIO()
    call_command(command, name, stdout=said)
    n = len(plan_pairs(group_set=GroupSet.objects.get(slug=name)))
    assert f"{name}-paired: {n} paired groups, {n} of them new" in said.getvalue()
    assert GroupSet.objects.get(slug=f"{name}-paired").groups.count() == n


def test_a_dry_run_lists_and_stores_nothing():
    few = GroupSet.objects.create(slug="few", title="Few")
    few.groups.set(SocialGroup.objects.filter(slug__in=["teenager", "wealthy"]))
    said = StringIO()
    call_command("pair_groups", "few", "--dry-run", stdout=said)
    assert "teenager--wealthy: teenage wealthy people" in said.getvalue()
    assert not GroupSet.objects.filter(slug="few-paired").exists()


def test_an_unknown_set_is_named_with_those_that_are_there():
    with pytest.raises(CommandError, match=r"no set “nothing”.*cao-2022-released"):
        call_command("pair_groups", "nothing")
