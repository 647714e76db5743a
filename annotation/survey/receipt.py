"""The receipt of a withdrawal: when, under which number, and how much was erased."""

from __future__ import annotations

from django.utils.dateformat import format as format_date
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from annotation.models import Submission, Withdrawal


def describe_erased(withdrawal: Withdrawal) -> list[str]:
    """Return one line for each kind of answer that there was, in the language spoken."""
    counts = withdrawal.erased
    lines = {
        "ratings": ngettext("%(n)s rating", "%(n)s ratings", counts.get("ratings", 0)),
        "left_out": ngettext(
            "%(n)s line left out", "%(n)s lines left out", counts.get("left_out", 0)
        ),
        "checks": ngettext("%(n)s short check", "%(n)s short checks", counts.get("checks", 0)),
        "about_yourself": ngettext(
            "%(n)s answer about yourself",
            "%(n)s answers about yourself",
            counts.get("about_yourself", 0),
        ),
        "other_answers": ngettext(
            "%(n)s other answer", "%(n)s other answers", counts.get("other_answers", 0)
        ),
        "page_times": ngettext(
            "The times of %(n)s page", "The times of %(n)s pages", counts.get("page_times", 0)
        ),
    }
    return [text % {"n": counts[name]} for name, text in lines.items() if counts.get(name)]


def describe_moment(withdrawal: Withdrawal) -> str:
    """Return when the answers were erased, such as “3 May 2026, 14:05 UTC”."""
    moment = localtime(withdrawal.withdrawn_at)
    day = format_date(moment, pgettext("how a day is written", "j F Y"))
    return f"{day}, {moment:%H:%M} UTC"


def write_receipt(submission: Submission, withdrawal: Withdrawal) -> str:
    """Return the receipt as a text to keep."""
    study = submission.study
    lines = [
        _("Receipt of a withdrawal"),
        "",
        study.title,
        _("Number: %(number)s") % {"number": submission},
        _("Erased on %(moment)s") % {"moment": describe_moment(withdrawal)},
        "",
        *(f"- {line}" for line in describe_erased(withdrawal)),
        "",
        _("Questions: %(contact)s") % {"contact": study.contact_email},
    ]
    return "\n".join(lines) + "\n"
