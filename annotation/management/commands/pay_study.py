"""Pay a study from the command line: show what would be done, ask, and have it done."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from annotation.common.money import format_money
from annotation.management.lookups import find_study
from annotation.models import ActionState, PanelAction, Study
from annotation.panels.action_plan import (
    PROPOSERS,
    Plan,
    PlanChangedError,
    store_plan,
)
from annotation.panels.dispatch import notify_payer
from annotation.panels.errors import PanelError
from annotation.panels.payment_service import pay_study, refresh_study
from annotation.panels.registry import get_panel
from annotation.studies.ledger import Ledger


class Command(BaseCommand):
    help = "Pay everyone of a study whose pay is approved, through the panel's API."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's public id, as in its link")
        parser.add_argument("--what", choices=sorted(PROPOSERS), default="rewards")
        parser.add_argument("--yes", action="store_true", help="do it without asking")
        parser.add_argument(
            "--dry-run", action="store_true", help="only say whom it would reach, and how much"
        )
        parser.add_argument(
            "--here", action="store_true", help="ask the panel in this process, not by a worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = find_study(options["study"])
        if not get_panel(study.panel).has_api:
            raise CommandError(
                "The study's panel has no API: payments are recorded on its money page."
            )
        if options["here"]:
            self._look(study)
        propose = PROPOSERS[options["what"]]
        plan = propose(study)
        self._show(study, plan)
        if options["dry_run"]:
            return
        if plan.people and (options["yes"] or self._is_confirmed(plan)):
            try:
                store_plan(
                    study=study, propose=propose, fingerprint=plan.fingerprint, planned_by=None
                )
            except PlanChangedError:
                raise CommandError("A decision was made in between. Nothing was done.") from None
        if options["here"]:
            self._carry_out(study)
        elif plan.people:
            notify_payer(study)
            self.stdout.write("A worker asks the panel now.")

    def _look(self, study: Study) -> None:
        try:
            refresh_study(study=study)
        except PanelError as problem:
            raise CommandError(str(problem)) from None

    def _show(self, study: Study, plan: Plan) -> None:
        ledger = Ledger(study)
        fee = ledger.fee_of(plan.amount_minor)
        amount = format_money(plan.amount_minor, study.currency, language="en")
        people = "1 person" if plan.people == 1 else f"{plan.people:,} people"
        panel = f" and {format_money(fee, study.currency, language='en')} for the panel"
        self.stdout.write(f"{people}, {amount}{panel if fee else ''}.")
        for reason, n in sorted(plan.left_out.items()):
            self.stdout.write(f"{n} left out: {reason}")

    def _is_confirmed(self, plan: Plan) -> bool:
        answer = input(f"Type the number of people ({plan.people}) to go on: ")
        if answer.strip() != str(plan.people):
            raise CommandError(_("Not confirmed. Nothing was done."))
        return True

    def _carry_out(self, study: Study) -> None:
        done = pay_study(study=study)
        for state in ActionState:
            n = PanelAction.objects.filter(study=study, state=state).count()
            if n:
                self.stdout.write(f"{state.label}: {n}")
        if done.problem:
            raise CommandError(done.problem)
