"""What a run's scores rest on, in the words of reports: options, templates or sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluation.reports.parts.formatting import count, listing
from evaluation.reports.parts.records import RunRecord, SentenceRecord
from probing.measures.registry import MEASURES
from probing.models import Run

# How many templates are named before the rest is only counted.
NAMED_TEMPLATES = 4
SHOWN_REMARKS = 8
# Options that say how the work is cut; no score depends on them.
CUT_OF_THE_WORK = frozenset({"groups_per_shard", "pairs_per_shard"})

CORPUS_CAVEAT = (
    "The scores rest on sentences of one corpus: in other texts the same words may stand "
    "otherwise, and groups that are rarely named have few sentences."
)


def sentence_source(run: Run) -> SentenceRecord | None:
    """Return what a report keeps of a run's sentences; None for a run on templates."""
    source: SentenceRecord | None = run.stimuli.get("source")
    return source


def asked_question(run: Run) -> str:
    """Return what a report keeps of the question of direct ratings; empty for other measures."""
    return str(run.stimuli.get("question", ""))


def is_asked(run: RunRecord) -> bool:
    """Return whether a recorded run asked for ratings directly."""
    return bool(run.get("question"))


def scored_over(run: RunRecord) -> str:
    """Return what a recorded run's scores were computed over, as in “averaged over 2 templates”.

    run : the record of a run, with its ``templates``, ``sentences`` and ``question``
    """
    if is_asked(run):
        return (
            f"asked a study’s own question up to {count(run['parameters']['answers'], 'time')} "
            "with the words’ sides and order counterbalanced"
        )
    source = run.get("sentences")
    if not source:
        return f"averaged over {count(len(run['templates']), 'template')}"
    return (
        f"in up to {source['per_word']:,} sentences for each word, drawn from "
        f"{source['n_sentences']:,} of “{source['name']}”"
    )


def quoted_templates(run: RunRecord) -> str:
    """Return the first templates and how many more there are, after a colon; a full stop without.

    run : the record of a run; templates end their sentence themselves
    """
    if is_asked(run):
        return f": “{run['question'].replace('{group}', '[group]')}”."
    templates = run["templates"]
    quoted = [f"“{show_slots(text)}”" for text in templates[:NAMED_TEMPLATES]]
    if len(templates) > NAMED_TEMPLATES:
        return f": {listing([*quoted, f'{len(templates) - NAMED_TEMPLATES} more'])}."
    return f": {listing(quoted)}" if quoted else "."


def show_slots(template: str) -> str:
    """Return a template as readers write it: “That [group] is [adjective].”"""
    for slot in ("{singular}", "{plural}", "{Plural}"):
        template = template.replace(slot, "[group]")
    return template.replace("{trait}", "[adjective]")


def is_read_in_sentences(run: RunRecord) -> bool:
    """Return whether a recorded run read its groups in sentences, not in templates."""
    return bool(run.get("sentences"))


def measure_title(run: RunRecord) -> str:
    """Return the measure's title, or its name where the measure is no longer registered."""
    measure = MEASURES.get(run["measure"])
    return str(measure.title) if measure else run["measure"]


def measure_short(run: RunRecord) -> str:
    """Return the measure's short name for axes and heads."""
    return {"set": "SeT", "ilps": "ILPS", "ilps_star": "ILPS*", "ceat": "CEAT"}.get(
        run["measure"], run["measure"].replace("_", " ")
    )


def all_options(run: RunRecord) -> str:
    """Return every option of a recorded run by its name, as “prior mask, gamma 1.0”.

    Options that came after the run was made are not among them: their defaults hold.
    """
    texts = [f"{name} {_shown(value)}" for name, value in _effective(run).items()]
    return ", ".join(texts) or "not recorded"


def changed_options(run: RunRecord) -> dict[str, str]:
    """Return the options of a recorded run that are not the measure's defaults: title → value."""
    measure = MEASURES.get(run["measure"])
    if measure is None:
        return {}
    fields = measure.Parameters.model_fields
    return {
        (fields[name].title or name).lower(): _shown(value)
        for name, value in _effective(run).items()
        if name in fields and value != fields[name].default
    }


def options_in_words(run: RunRecord) -> str:
    """Return a clause on the measure's options: “with all options at their defaults”."""
    if run["measure"] not in MEASURES:
        return f"with the options {all_options(run)}"
    changed = changed_options(run)
    if not changed:
        return "with all options at their defaults"
    named = listing([f"{title} “{value}”" for title, value in changed.items()])
    return f"with the options {named}, all others at their defaults"


def short_options(run: RunRecord) -> str:
    """Return the changed options as a label has room for them: “noun, released”."""
    return ", ".join(
        value if value.isidentifier() else f"{title} {value}"
        for title, value in changed_options(run).items()
    )


def remarks(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    """Return what recorded runs remarked on their stimuli and scores, such as a floor."""
    found: list[str] = []
    for run in runs:
        own = list(dict.fromkeys(str(text) for text in run.get("notices", ()) if text))
        found += [f"Run {run['number']} remarks: {text}" for text in own[:SHOWN_REMARKS]]
        if len(own) > SHOWN_REMARKS:
            more = len(own) - SHOWN_REMARKS
            found.append(f"Run {run['number']} has {count(more, 'more remark')} on its page.")
    return tuple(found)


def _effective(run: RunRecord) -> dict[str, Any]:
    """Return the options as the measure declares them: PostgreSQL stores them in another order."""
    measure, given = MEASURES.get(run["measure"]), run["parameters"]
    declared = measure.Parameters.model_fields if measure else {}
    names = dict.fromkeys([*(name for name in declared if name in given), *given])
    return {name: given[name] for name in names if name not in CUT_OF_THE_WORK}


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " + ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
