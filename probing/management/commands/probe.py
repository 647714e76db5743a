"""Creates a run from the command line, follows it to its end and prints its scores."""

from __future__ import annotations

import re
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from annotation.models import Corpus, Study
from probing.management.console_tables import count, describe_stimuli, print_results
from probing.measures.base import Problem, StimuliValue
from probing.measures.guise_library import DEFAULT_ATTRIBUTES
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, ModelKind, NumberFormat, Run, RunStatus
from probing.runs.creation import DryRun, create_run, dry_run
from probing.runs.dispatch import any_worker_answers
from probing.runs.errors import RunError
from probing.runs.language_models import find_model
from probing.runs.leases import OPEN
from probing.runs.parameters import find_measure
from probing.runs.prices import price_run, show_price
from probing.runs.progress import load_progress
from probing.runs.sentence_files import KINDS, GivenSentences, open_sentences
from probing.runs.stimuli import DEFAULT_GROUPS
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.sweep import sweep
from probing.runs.text_stimuli import DEFAULT_EXAMPLES
from probing.runs.trained_classification import classify_with_trained
from probing.runs.worker import work, worker_name

POLL_SECONDS = 0.5

#: Options whose names differ from where a problem is said to be.
_OPTIONS = {
    "prompts": "--prompt",
    "sources": "--source",
    "parameters": "--param",
    "location": "--model",
    "run": "--trained-by",
}
#: Where problems are said to be that options are called after.
_FIELDS = (
    *("measure", "model", "revision", "groups", "traits", "templates", "study", "corpus", "seed"),
    *("sentences", "variety", "attributes", "varieties", "terms", "texts", "limit", "per_source"),
    *("examples", "examples_from", "dtype"),
)


class Command(BaseCommand):
    help = "Probe a language model: create a run, wait for its scores and print them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _describe_parameters()
        parser.add_argument("--measure", default="set", help=f"{', '.join(MEASURES)}; default set")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--model", help="a registered name, a folder, a GGUF file, or a hub id")
        which.add_argument(
            "--trained-by",
            type=int,
            metavar="RUN",
            help="for classification: all models that this run of fine-tuning has kept, each in a "
            "run of its own",
        )
        parser.add_argument("--revision", default="", help="branch, tag or commit on the hub")
        parser.add_argument(
            "--groups",
            nargs="+",
            default=[DEFAULT_GROUPS],
            metavar="SLUG",
            help=f"sets of groups or single groups; default {DEFAULT_GROUPS}",
        )
        parser.add_argument(
            "--traits",
            nargs="+",
            metavar="SLUG",
            help="trait pairs; default the 16 of Cao et al. (2022)",
        )
        parser.add_argument(
            "--templates",
            nargs="+",
            metavar="SLUG",
            help="sets of templates or single ones; default the best of Cao et al. (2022, Table 5)"
            " for the measure and the model's family, and for every other family"
            " “That {singular} is {trait}.”",
        )
        parser.add_argument(
            "--study",
            default="",
            help="title or public id of a study, for direct ratings; --groups and --traits may "
            "name some of its own",
        )
        parser.add_argument(
            "--corpus",
            default="",
            help="name or public id of a corpus, for measures on texts and for CEAT",
        )
        parser.add_argument(
            "--sentences",
            default="",
            metavar="FILE",
            help=f"for CEAT, instead of a corpus: {KINDS}",
        )
        parser.add_argument(
            "--map",
            default="",
            metavar="sentence=COLUMN",
            help="the column of --sentences that holds them, if it has another name",
        )
        parser.add_argument(
            "--variety",
            default="",
            help="for CEAT, takes only the corpus's texts in it; default all of the corpus",
        )
        parser.add_argument(
            "--prompt",
            action="append",
            default=[],
            metavar="SLUG",
            help="a prompt of the library, or for guises a purpose such as traits, repeatable; "
            "default the usual ones for the kind of model or the attributes",
        )
        parser.add_argument(
            "--source",
            action="append",
            default=[],
            help="takes only pairs or texts drawn from there, repeatable; default all",
        )
        parser.add_argument(
            "--attributes",
            default=DEFAULT_ATTRIBUTES,
            metavar="SLUG",
            help="for matched guise probing, the word list whose words end the prompts; default "
            f"{DEFAULT_ATTRIBUTES}",
        )
        parser.add_argument(
            "--varieties",
            nargs=2,
            default=[],
            metavar="NAME",
            help="for matched guise probing, two varieties of a corpus that has more, the first "
            "guise first",
        )
        parser.add_argument(
            "--terms",
            nargs="+",
            default=[],
            metavar="NAME/NAME",
            help="for matched guise probing, instead of a corpus: names of two groups, such as "
            "Black/White black/white",
        )
        parser.add_argument(
            "--texts",
            default="",
            metavar="SLUG",
            help="for fine-tuning a classifier: the set of labeled texts to train on",
        )
        parser.add_argument("--limit", type=int, help="the most pairs, drawn with the seed")
        parser.add_argument(
            "--per-source", type=int, help="the most pairs of each source, drawn with the seed"
        )
        parser.add_argument(
            "--examples",
            type=int,
            default=0,
            help="training pairs, or labeled texts, that are shown before each text; default 0",
        )
        parser.add_argument(
            "--examples-from",
            default=DEFAULT_EXAMPLES,
            metavar="SLUG",
            help="for prompted classification, the labeled texts that examples are drawn from; "
            f"default {DEFAULT_EXAMPLES}",
        )
        parser.add_argument(
            "--param",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a parameter of the measure, repeatable; see below",
        )
        parser.add_argument("--seed", type=int, default=0, help="stored with the run; default 0")
        parser.add_argument(
            "--dtype",
            choices=NumberFormat.values,
            default="",
            help="number format of the model, where processor or GPU has it; default that of the "
            f"workers, {settings.MODEL_DTYPE} here",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what it would cost, and store nothing"
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--no-wait", action="store_true", help="leave the run to the workers")
        where.add_argument("--local", action="store_true", help="compute in this process")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._probe(options)
        except RunError as error:
            said = " ".join(_name_option(problem) for problem in error.problems)
            raise CommandError(_one_line(said)) from error

    def _probe(self, options: dict[str, Any]) -> None:
        # Django's wrapper ends every write with a line break, which would tear the progress bar.
        stream = cast("IO[str]", self.stdout._out)
        console = Console(file=stream, highlight=False, soft_wrap=True)
        parameters = _read_parameters(options["param"])
        find_measure(options["measure"])  # before a model is registered for nothing
        if options["trained_by"] is not None:
            self._classify(console, options, parameters)
            return
        model = find_model(wanted=options["model"], revision=options["revision"])
        asked = self._ask(options, model, parameters)
        stimuli = asked["stimuli"]
        if options["dry_run"]:
            _print_dry_run(console, dry_run(**asked), stimuli)
            return
        run = create_run(**asked, seed=options["seed"], created_by=None)
        console.print(
            f"Run {run.pk}: {MEASURES[run.measure].title} with {model.name}, "
            f"{describe_stimuli(stimuli)}, {count(run.shard_count, 'shard')}."
        )
        told = run.notices
        for notice in told:
            console.print(f"Note: {notice}")
        if options["no_wait"]:
            return
        _follow(console, run, local=options["local"])
        _report(console, run, model, told)

    def _classify(
        self, console: Console, options: dict[str, Any], parameters: dict[str, str]
    ) -> None:
        """Classify with every model that a run of fine-tuning has kept."""
        if options["measure"] != "classification":
            raise RunError.at("measure", "--trained-by is for --measure classification alone.")
        trained_by = Run.objects.filter(pk=options["trained_by"]).first()
        if trained_by is None:
            raise RunError.at("run", f"There is no run {options['trained_by']}.")
        runs = classify_with_trained(
            run=trained_by,
            choice=StimuliChoice(groups=options["groups"], templates=options["templates"] or ()),
            parameters=parameters,
            seed=options["seed"],
            created_by=None,
            dtype=options["dtype"],
        )
        for run in runs:
            console.print(f"Run {run.pk}: {MEASURES[run.measure].title} with {run.model.name}.")
            if not options["no_wait"]:
                _follow(console, run, local=options["local"])
                _report(console, run, run.model)
        numbers = " ".join(f"--run {run.pk}" for run in runs)
        console.print(f"Report on them: manage.py report fpr_gaps {numbers}")

    def _ask(
        self, options: dict[str, Any], model: LanguageModel, parameters: dict[str, str]
    ) -> dict[str, Any]:
        """Return the arguments of the services; a file of sentences is read here, once."""
        with _open_sentences(options["sentences"], options["map"]) as sentences:
            choice = StimuliChoice.of(
                options,
                templates=options["templates"] or (),
                study=_find_study(options["study"]),
                corpus=_find_corpus(options["corpus"]),
                sentences=sentences,
                prompts=options["prompt"],
                sources=options["source"],
            )
            asked = run_request(
                measure=options["measure"],
                model=model,
                choice=choice,
                seed=options["seed"],
                parameters=parameters,
                dtype=options["dtype"],
            )
        for notice in sentences.notices if sentences else ():
            self.stdout.write(f"Note: {notice}")
        return asked


@contextmanager
def _open_sentences(path: str, named: str) -> Iterator[GivenSentences | None]:
    """Yield the sentences of a file while it is open, None where none is named."""
    field, _, column = named.partition("=")
    if named and (field.strip() != "sentence" or not column.strip() or not path):
        raise RunError.at(
            "sentences", f"--map is “{named}”, expected sentence=COLUMN beside --sentences."
        )
    if not path:
        yield None
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 # closed below
    except OSError as error:
        raise RunError.at(
            "sentences", f"“{path}” cannot be read ({error.strerror}), expected a file."
        ) from error
    with file:
        yield open_sentences(file, file_name=path, column=column.strip())


def _find_corpus(wanted: str) -> Corpus | None:
    """Return the corpus of that name or public id, None where none is asked for."""
    if not wanted:
        return None
    found = Corpus.objects.filter(Q(name=wanted) | Q(public_id=wanted)).first()
    if found is None:
        known = ", ".join(f"“{corpus.name}”" for corpus in Corpus.objects.all()[:8])
        expected = f"expected one of: {known}" if known else "and there is no other; import one"
        raise RunError.at("corpus", f"There is no corpus “{wanted}”, {expected}.")
    return found


def _find_study(wanted: str) -> Study | None:
    """Return the study of that title or public id, None where none is asked for."""
    if not wanted:
        return None
    surveys = Study.objects.surveys()
    found = surveys.filter(Q(title=wanted) | Q(public_id=wanted)).order_by("-created_at").first()
    if found is None:
        known = ", ".join(f"“{study.title}”" for study in surveys[:8])
        expected = f"expected one of: {known}" if known else "and there is no other; create one"
        raise RunError.at("study", f"There is no study “{wanted}”, {expected}.")
    return found


def _read_parameters(texts: list[str]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RunError.at(
                "parameters", f"--param is “{text}”, expected NAME=VALUE such as prior=noun."
            )
        if name.strip() in parameters:
            raise RunError.at("parameters", f"--param {name.strip()} is given twice.")
        parameters[name.strip()] = value
    return parameters


def _follow(console: Console, run: Run, *, local: bool) -> None:
    """Show the run's progress until it is closed, computing here if no worker does."""
    if not local and not any_worker_answers():
        console.print("No worker answers: the run is computed in this process.")
        local = True
    with Progress(
        TextColumn("Shards"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as display:
        task = display.add_task("shards", total=run.shard_count)

        def show() -> None:
            display.update(task, completed=load_progress(run).stored)

        if local:
            _compute_here(run, show)
        else:
            _wait(console, run, show)


def _compute_here(run: Run, show: Callable[[], None]) -> None:
    name = worker_name()
    while _is_open(run):
        done = work(worker=name, budget_seconds=POLL_SECONDS, run=run)
        show()
        if done.exhausted:  # what is left is with other workers, or with one that died
            time.sleep(POLL_SECONDS)
            sweep(idle=0)


def _wait(console: Console, run: Run, show: Callable[[], None]) -> None:
    """Wait for the workers, and take over if they fall silent for longer than a lease."""
    stored, silent_since = 0, time.monotonic()
    while _is_open(run):
        time.sleep(POLL_SECONDS)
        show()
        now_stored = load_progress(run).stored
        if now_stored != stored:
            stored, silent_since = now_stored, time.monotonic()
        elif time.monotonic() - silent_since > settings.SHARD_LEASE_SECONDS:
            if not any_worker_answers():
                console.print("The workers are gone: the run is finished in this process.")
                _compute_here(run, show)
            silent_since = time.monotonic()


def _is_open(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, status__in=OPEN).exists()


def _report(console: Console, run: Run, model: LanguageModel, told: Sequence[str] = ()) -> None:
    """Print what a run that has ended came to, and its notices that were not `told` before."""
    run.refresh_from_db()
    if run.status == RunStatus.FAILED:
        # Our own errors are written for a reader; where their class lives tells them nothing.
        last = re.sub(r"^probing\.[\w.]+: ", "", run.error.strip().splitlines()[-1])
        raise CommandError(f"Run {run.pk} failed: {_one_line(last)} The run's page has the rest.")
    if run.status == RunStatus.CANCELED:
        raise CommandError(f"Run {run.pk} was canceled; resume it on its page.")
    stored = print_results(console, run)
    if model.is_demo:
        console.print("This is the demo model: its scores are meaningless.")
    for notice in run.notices:
        if notice not in told:
            console.print(f"Note: {notice}")
    if model.kind == ModelKind.CHAT:
        money = show_price(price_run(run), model.price_currency)
        console.print(f"Spent: {run.tokens_spent:,} tokens; money: {money}.")
    console.print(
        f"Run {run.pk} {'ended without a score' if not stored else f'is finished: {stored}'}."
    )


def _print_dry_run(console: Console, tried: DryRun, stimuli: StimuliValue) -> None:
    if tried.fatal:
        raise RunError(tried.fatal)
    for problem in tried.notices:
        console.print(f"Note: {problem.where}: {problem.message}")
    if tried.cost is None:
        return
    pace = (
        "no run of this model is finished yet, so the time is not known"
        if tried.seconds is None
        else f"about {tried.seconds:.0f} s of computing at the pace of its latest run"
    )
    n = tried.cost.forward_passes
    passes = count(n, "request") if tried.served else count(n, "forward pass", "forward passes")
    at_most = "at most " if tried.served else ""
    console.print(
        f"{describe_stimuli(stimuli)}: {count(tried.cost.shards, 'shard')}, "
        f"{at_most}{passes}, "
        f"{count(tried.cost.tokens, 'token')}; {pace}. "
        f"{_describe_money(tried)}"
        "Nothing was stored."
    )


def _describe_money(tried: DryRun) -> str:
    if not tried.served:
        return ""
    at_most = "at most " if tried.money is not None else ""
    return f"Money: {at_most}{show_price(tried.money, tried.currency)}. "


def _describe_parameters() -> str:
    """Return the parameters of every measure, from its schema."""
    lines: list[str] = []
    for name, measure in MEASURES.items():
        lines += ["", f"parameters of {name} ({measure.title}):"]
        for field, described in measure.Parameters.model_fields.items():
            lines.append(f"  {field}={described.default}")
            lines.append(f"      {described.description}")
    return "\n".join(lines)


def _name_option(problem: Problem) -> str:
    """Return what is wrong, with the option that the value came from in front."""
    field, _, parameter = problem.where.partition(" ")
    if field == "parameter" and parameter:
        option = f"--param {parameter}"
    elif parameter or field not in (*_OPTIONS, *_FIELDS):
        return problem.message
    else:
        option = _OPTIONS.get(field) or f"--{field.replace('_', '-')}"
    return problem.message if option in problem.message else f"{option}: {problem.message}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
