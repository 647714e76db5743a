"""How pages print the states and numbers of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from probing.measures.registry import MEASURES
from probing.models import LanguageModel, ModelKind, Run, RunStatus
from probing.runs.creation import DryRun
from probing.runs.prices import show_price

BADGES = {
    RunStatus.WAITING: "mark-clock",
    RunStatus.RUNNING: "info mark-play",
    RunStatus.FINISHED: "good mark-tick",
    RunStatus.FAILED: "bad mark-cross",
    RunStatus.CANCELLED: "mark-ring",
}


def run_badge(run: Run) -> SafeString:
    """Return the status of a run as a badge: a mark and a word. Imported runs say so."""
    if run.is_imported:
        return format_html('<span class="badge info">{}</span>', run.get_origin_display())
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


def cost(tried: DryRun) -> dict[str, Any] | None:
    """Return the cost of a dry run as the page prints it; None where it is not known."""
    if tried.cost is None:
        return None
    return {
        "shards": f"{tried.cost.shards:,}",
        "passes": f"{tried.cost.forward_passes:,}",
        "tokens": f"{tried.cost.tokens:,}",
        "money": show_price(tried.money, tried.currency) if tried.served else "",
        "time": None if tried.seconds is None else duration(tried.seconds),
    }


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


#: What a run may cover, one and several of it.
_COUNTED = {
    "group": ngettext_lazy("%(n)s group", "%(n)s groups", "number"),
    "trait pair": ngettext_lazy("%(n)s trait pair", "%(n)s trait pairs", "number"),
    "template": ngettext_lazy("%(n)s template", "%(n)s templates", "number"),
    "sentence": ngettext_lazy("%(n)s sentence", "%(n)s sentences", "number"),
    "pair of texts": ngettext_lazy("%(n)s pair of texts", "%(n)s pairs of texts", "number"),
    "text": ngettext_lazy("%(n)s text", "%(n)s texts", "number"),
    "labelled text": ngettext_lazy("%(n)s labelled text", "%(n)s labelled texts", "number"),
    "attribute": ngettext_lazy("%(n)s attribute", "%(n)s attributes", "number"),
    "prompt": ngettext_lazy("%(n)s prompt", "%(n)s prompts", "number"),
}


#: Counted by the thousand.
_MANY = ("sentence", "labelled text")


def numbers(counts: Mapping[str, int]) -> str:
    """Return counted things in words, as in “25 groups, 16 trait pairs, 812 sentences”."""
    return ", ".join(
        str(_COUNTED[noun] % {"number": n, "n": f"{n:,}" if noun in _MANY else n})
        for noun, n in counts.items()
    )


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


def value_label(value: str, described: Mapping[str, Any]) -> str:
    """Return a value in the words that the schema of its parameter has for it."""
    return str(described.get("labels", {}).get(value, value.replace("_", " ")))


def parameter_labels(run: Run) -> list[tuple[str, str]]:
    """Return the parameters of a run as its form names them, with their values in words."""
    measure = MEASURES.get(run.measure)
    known = measure.Parameters.model_json_schema()["properties"] if measure else {}
    return [
        (str(known.get(name, {}).get("title", name)), _parameter_value(value, known.get(name, {})))
        for name, value in sorted(run.parameters.items())
    ]


def _parameter_value(value: Any, shape: Mapping[str, Any]) -> str:
    if value is None or value == "":
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(_parameter_value(one, shape) for one in value) or _("none")
    # Only names that the measure chooses among are words; a text of one's own stays as it is.
    is_name = any(word in repr(shape) for word in ("'enum'", "'const'"))
    return value_label(value, shape) if isinstance(value, str) and is_name else str(value)


def source_label(name: str, *, pairs: int | None = None, texts: int = 0) -> str:
    """Return a source with how many pairs, or texts, were drawn from it."""
    number = (
        ngettext("%(n)d text", "%(n)d texts", texts) % {"n": texts}
        if pairs is None
        else ngettext("%(n)d pair", "%(n)d pairs", pairs) % {"n": pairs}
    )
    return f"{name or _('no source named')} ({number})"
