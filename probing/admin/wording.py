"""Numbers and states of runs in the words of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from probing.models import LanguageModel, ModelKind, Run, RunStatus
from probing.runs.creation import DryRun

BADGES = {
    RunStatus.WAITING: "mark-clock",
    RunStatus.RUNNING: "info mark-play",
    RunStatus.FINISHED: "good mark-tick",
    RunStatus.FAILED: "bad mark-cross",
    RunStatus.CANCELLED: "mark-ring",
}


def run_badge(run: Run) -> SafeString:
    """Return the status of a run as a badge: a mark and a word."""
    mark = BADGES[RunStatus(run.status)]
    return format_html('<span class="badge {}">{}</span>', mark, run.get_status_display())


def duration(seconds: float) -> tuple[str, str]:
    """Return a span of time as a number and its unit, for example ``("44", "min")``."""
    if seconds < 90:
        return str(max(1, round(seconds))), _("s")
    minutes = round(seconds / 60)
    if minutes < 90:
        return str(minutes), _("min")
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d}", _("min")


@dataclass(frozen=True)
class CostWords:
    """A dry run's numbers as the page prints them; ``time`` is a number with its unit."""

    shards: str
    passes: str
    tokens: str
    time: tuple[str, str] | None


def cost(tried: DryRun) -> CostWords | None:
    """Return the cost of a dry run in words, None where it could not be told."""
    if tried.cost is None:
        return None
    return CostWords(
        shards=f"{tried.cost.shards:,}",
        passes=f"{tried.cost.forward_passes:,}",
        tokens=f"{tried.cost.tokens:,}",
        time=None if tried.seconds is None else duration(tried.seconds),
    )


def rate(per_minute: float) -> str:
    """Return shards a minute with as many digits as help."""
    return f"{per_minute:,.0f}" if per_minute >= 20 else f"{per_minute:.1f}"


def parameter_count(model: LanguageModel) -> str:
    """Return how large a model is, as in “355 million”, empty where that is not known."""
    count = model.parameter_count
    if count is None:
        return ""
    return _("%(n)d million") % {"n": round(count / 1e6)} if count >= 1e7 else f"{count:,}"


def signed(value: float) -> str:
    """Return a score with its sign, two decimals and a true minus."""
    text = f"{value:+.2f}"
    return "0.00" if float(text) == 0 else text.replace("-", "−")


def text_contents(*, pairs: int, prompts: int) -> str:
    """Return what a run on texts covers, as in “72 pairs of texts, 1 prompt”."""
    parts = [ngettext("%(n)d pair of texts", "%(n)d pairs of texts", pairs) % {"n": pairs}]
    if prompts:
        parts.append(ngettext("%(n)d prompt", "%(n)d prompts", prompts) % {"n": prompts})
    return ", ".join(parts)


def kinds(names: Sequence[str]) -> str:
    """Return kinds of models in words, as in “causal or sequence to sequence”."""
    labels = [str(ModelKind(name).label).lower() for name in names]
    return _(" or ").join(labels)


def unfitting(number: int, names: Sequence[str]) -> str:
    """Return why so many registered models are not offered."""
    return ngettext(
        "%(n)d registered model is of another kind; this measure needs one of the kind: %(kinds)s.",
        "%(n)d registered models are of other kinds; this measure needs one of the kind: "
        "%(kinds)s.",
        number,
    ) % {"n": number, "kinds": kinds(names)}


def source_label(name: str, *, pairs: int | None = None, texts: int = 0) -> str:
    """Return a source with how many pairs, or texts, were drawn from it."""
    number = (
        ngettext("%(n)d text", "%(n)d texts", texts) % {"n": texts}
        if pairs is None
        else ngettext("%(n)d pair", "%(n)d pairs", pairs) % {"n": pairs}
    )
    return f"{name or _('no source named')} ({number})"


def sentence_contents(*, groups: int, traits: int, sentences: int) -> str:
    """Return what a run covers, as in “25 groups, 16 trait pairs, 812 sentences”."""
    return ", ".join(
        [
            ngettext("%(n)d group", "%(n)d groups", groups) % {"n": groups},
            ngettext("%(n)d trait pair", "%(n)d trait pairs", traits) % {"n": traits},
            ngettext("%(n)s sentence", "%(n)s sentences", sentences) % {"n": f"{sentences:,}"},
        ]
    )


def contents(*, groups: int, traits: int, templates: int) -> str:
    """Return what a run covers, as in “25 groups, 16 trait pairs, 2 templates”."""
    return ", ".join(
        [
            ngettext("%(n)d group", "%(n)d groups", groups) % {"n": groups},
            ngettext("%(n)d trait pair", "%(n)d trait pairs", traits) % {"n": traits},
            ngettext("%(n)d template", "%(n)d templates", templates) % {"n": templates},
        ]
    )
