"""Results of a run on the command line: one function for each kind of result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from probing.measures.base import ResultKind
from probing.measures.guise_stimuli import GuiseStimuli
from probing.measures.labeled_texts import SPLITS, LabeledTexts
from probing.measures.probe_stimuli import ProbeStimuli
from probing.measures.prompted_stimuli import PromptedStimuli
from probing.measures.rating_stimuli import RatingStimuli
from probing.measures.registry import MEASURES
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.text_stimuli import TextStimuli
from probing.models import LanguageModel, Run
from probing.runs.certificates import (
    OUTCOMES,
    checks_with_questions,
    describe_tried,
    grouped_fits,
    measure_fits,
    read_certificate,
    why_outdated,
)
from probing.runs.result_tables import (
    count_directions,
    load_associations,
    load_rate_table,
    load_score_table,
    load_span_table,
    load_surprisal_table,
    run_counterparts,
)
from probing.runs.served_models import describe_server
from probing.runs.trained_models import trained_model_of
from probing.runs.tuning_progress import load_trainings

COUNTERPARTS_SHOWN = 5
ATTRIBUTES_SHOWN = 5
_NAMED = 3


def describe_stimuli(stimuli: Any) -> str:
    """Return what a run works on, as in “25 groups, 16 traits, 2 templates”."""
    if isinstance(stimuli, TextStimuli):
        parts = [count(len(stimuli.pairs), "pair of texts", "pairs of texts")]
        if stimuli.prompts:
            parts.append(f"prompts {', '.join(prompt.slug for prompt in stimuli.prompts)}")
        if stimuli.examples:
            parts.append(count(len(stimuli.examples), "example"))
        return ", ".join(parts)
    if isinstance(stimuli, GuiseStimuli):
        counts = " and ".join(
            f"{count(len(texts), 'text')} in {variety}"
            for variety, texts in zip(stimuli.varieties, stimuli.texts, strict=True)
        )
        prompts, attributes = len(stimuli.prompts), len(stimuli.attributes)
        return f"{counts}, {count(prompts, 'prompt')}, {count(attributes, 'attribute')}"
    if isinstance(stimuli, SentenceStimuli):
        return (
            f"{count(len(stimuli.groups), 'group')}, {count(len(stimuli.traits), 'trait')}, "
            f"{stimuli.n_drawn:,} sentences drawn from {stimuli.source.n_sentences:,} of "
            f"“{stimuli.source.name}”"
        )
    if isinstance(stimuli, ProbeStimuli):
        asked = ""
        if isinstance(stimuli, PromptedStimuli):
            asked = f", prompts {', '.join(one.slug for one in stimuli.wordings)}"
            asked += f", {count(stimuli.n_shots, 'example')}" if stimuli.shots else ""
        return (
            f"{count(len(stimuli.groups), 'group')}, {_name_templates(stimuli.templates)}, "
            f"{count(len(stimuli.sentences), 'sentence')}{asked}"
        )
    if isinstance(stimuli, RatingStimuli):
        return (
            f"{count(len(stimuli.groups), 'group')}, {count(len(stimuli.traits), 'trait')}, "
            f"the question of “{stimuli.title}”"
        )
    if isinstance(stimuli, LabeledTexts):
        parts = [f"{len(stimuli.part(split)):,} {split}" for split in SPLITS]
        return f"“{stimuli.name}”: {', '.join(parts)} texts"
    return (
        f"{count(len(stimuli.groups), 'group')}, {count(len(stimuli.traits), 'trait')}, "
        f"{_name_templates(stimuli.templates)}"
    )


def _name_templates(templates: Any) -> str:
    """Return the number of templates and, of a few, their names, which decide about every score."""
    named = f" ({', '.join(one.slug for one in templates)})" if len(templates) <= _NAMED else ""
    return count(len(templates), "template") + named


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with what it counts, as in “1 shard” and “2 shards”."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def print_model(console: Console, model: LanguageModel) -> None:
    """Print a model's certificate, and what it can measure."""
    lines = [f"{model.name}: {model.get_kind_display()}, at {model.location}"]
    lines += [f"  {line}" for line in describe_server(model)]
    certificate = read_certificate(model)
    if certificate is not None:
        lines.append(f"Tested {describe_tried(certificate)}:")
        lines += [
            f"  {title}: {OUTCOMES[check.outcome].lower()}, {check.result}"
            for title, _question, check in checks_with_questions(certificate)
        ]
    if outdated := why_outdated(model):
        lines.append(f"{outdated} The next run tests the model; so does manage.py models --test.")
    lines.append("Measures:")
    fits = measure_fits(model)
    lines += [
        f"  yes  {fit.name}: {fit.title}{f'. {fit.how}' if fit.how else ''}"
        for fit in fits
        if fit.can
    ]
    lines += [
        f"  no   {', '.join(one.name for one in alike)}: {fit.reason}"
        for fit, alike in grouped_fits(fits)
        if not fit.can
    ]
    for line in lines:
        console.print(Text(line))


def print_results(console: Console, run: Run) -> str:
    """Print what ``run`` found and return what it stored, for the last line; "" without a value."""
    return PRINT[MEASURES[run.measure].result](console, run)


def _scores(console: Console, run: Run) -> str:
    """Print for every group the traits that it leans to most, on either side."""
    table = load_score_table(run)
    why = Counter(cell.reason for row in table.rows for cell in row.cells if cell.value is None)
    if why.total() == len(table.rows) * len(table.columns):
        reason, n = why.most_common(1)[0]
        console.print(f"No group has a score. The reason for {n:,} of {why.total():,}: {reason}.")
        return ""
    heads = ["Highest pair scores", "Lowest pair scores"]
    if len(table.columns) == 1:
        heads = [f"{table.columns[0].low} – {table.columns[0].high}"]
    shown = _table("Group", *heads, "Without")
    for row in table.rows:
        scored = sorted(
            (
                (cell.value, column)
                for cell, column in zip(row.cells, table.columns, strict=True)
                if cell.value is not None
            ),
            key=lambda pair: (-pair[0], pair[1].slug),
        )
        most = min(_NAMED, (len(scored) + 1) // 2)  # no score is among both
        ends = [
            ", ".join(
                f"{column.high if value >= 0 else column.low} {_signed(value)}"
                for value, column in some
            )
            for some in (scored[:most], scored[most:][: -_NAMED - 1 : -1])
        ]
        if len(heads) == 1:
            ends = [", ".join(_signed(value) for value, _ in scored)]
        shown.add_row(row.name, *ends, str(len(row.cells) - len(scored)))
    console.print(shown)
    return f"{run.scores.count()} scores stored"


def _associations(console: Console, run: Run) -> str:
    """Print the attributes that lean most to either guise, as means over prompts."""
    rows = [row for row in load_associations(run) if row.value is not None]
    shown = _table("Attribute", "q", "Prompts")
    ends = rows[:ATTRIBUTES_SHOWN] + rows[ATTRIBUTES_SHOWN:][-ATTRIBUTES_SHOWN:]
    for row in ends:
        shown.add_row(row.attribute, f"{row.value:+.4f}".replace("-", "−"), str(row.n))
    console.print(shown)
    return f"{run.scores.count()} scores stored"


def _text_scores(console: Console, run: Run) -> str:
    """Print the mean of each quantity in each condition and variety."""
    shown = _table("Quantity", "Hidden", "Variety", "Mean", "sd of trials", "n", "Without")
    for row in load_span_table(run):
        shown.add_row(
            row.name,
            row.condition,
            row.variety,
            "–" if row.mean is None else f"{row.mean:.3f}",
            "–" if row.sd is None else f"{row.sd:.3f}",
            str(row.n),
            str(row.missing),
        )
    console.print(shown)
    return f"{run.text_scores.count()} scores stored"


def _counterparts(console: Console, run: Run) -> str:
    """Print how many there are in each variety, and the first few."""
    counts = count_directions(run)
    for one in counts:
        console.print(
            f"Into {one.variety}: {one.written} written, {one.remarked} of them cut, "
            f"{one.missing} without a text."
        )
    shown = _table("Original", "Into", "Written by the model")
    for counterpart in run_counterparts(run)[:COUNTERPARTS_SHOWN]:
        shown.add_row(
            *(
                # Texts are no markup, whatever brackets they hold.
                Text(" ".join(cell.split()))
                for cell in (
                    counterpart.text.body,
                    counterpart.variety,
                    counterpart.body or f"– {counterpart.reason}",
                )
            )
        )
    console.print(shown)
    return f"{sum(one.written + one.missing for one in counts)} counterparts stored"


def _predictions(console: Console, run: Run) -> str:
    """Print the false positive rates and the accuracy of every group and word."""
    classes, rows = load_rate_table(run)
    shown = _table("Group", "Word", *(f"{name} FPR" for name in classes), "Accuracy", "n")
    for row in rows:
        values = ("–" if value is None else f"{value:.3f}" for value in (*row.rates, row.accuracy))
        shown.add_row(row.group, row.filler, *values, str(row.n))
    console.print(shown)
    return f"{run.scores.count()} scores stored"


def _surprisals(console: Console, run: Run) -> str:
    """Print the mean surprisal of every group and word."""
    shown = _table("Group", "Word", "Nats", "n")
    for row in load_surprisal_table(run):
        value = "–" if row.value is None else f"{row.value:.3f}"
        shown.add_row(row.group, row.filler, value, str(row.n))
    console.print(shown)
    return f"{run.scores.count()} scores stored"


def _trained_model(console: Console, run: Run) -> str:
    model = trained_model_of(run)
    return "no model registered" if model is None else f"registered as “{model.name}”"


def _trained_classifiers(console: Console, run: Run) -> str:
    """Print how every training did, and which are kept."""
    rows = load_trainings(run)
    shown = _table("No.", "Seed", "Learning rate", "Weight decay", "Steps", "Accuracy", "Model")
    for row in rows:
        shown.add_row(
            str(row.number),
            str(row.seed),
            f"{row.learning_rate:g}",
            f"{row.weight_decay:g}",
            f"{row.best_step} of {row.steps}",
            "–" if row.test is None else f"{row.test.share:.3f}",
            row.model.name if row.model else "not kept",
        )
    console.print(shown)
    return f"{sum(row.model is not None for row in rows)} models registered"


PRINT: dict[ResultKind, Callable[[Console, Run], str]] = {
    ResultKind.SCORES: _scores,
    ResultKind.ASSOCIATIONS: _associations,
    ResultKind.TEXT_SCORES: _text_scores,
    ResultKind.COUNTERPARTS: _counterparts,
    ResultKind.PREDICTIONS: _predictions,
    ResultKind.SURPRISALS: _surprisals,
    ResultKind.TRAINED_MODEL: _trained_model,
    ResultKind.TRAINED_CLASSIFIERS: _trained_classifiers,
}


def _table(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for head in heads:
        number = "FPR" in head or head in (
            "Without",
            "Mean",
            "sd of trials",
            "n",
            "q",
            "Prompts",
            "Accuracy",
            "Nats",
        )
        table.add_column(head, justify="right" if number else "left")
    return table


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
