"""Predictions of classifiers that were made elsewhere, in the shapes in which they are published.

*Long*: a row for each sentence, model and run; trailing cells may be missing, as in the released
files. *Wide*: a row for each sentence, and a column “MODEL:RUN” with what it said. Each producer
becomes a finished run, a model without weights, and each of its runs a shard.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from annotation.common.lazy import pd
from annotation.common.table_file import TableFileError
from annotation.common.text_shortening import shorten
from annotation.imports.import_kind import (
    FurtherColumns,
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ImportRow,
    ReadRows,
    digest_rows,
    refuse_second,
)
from probing.imports.run_import import account
from probing.library.labeled_files import stored_groups, unfill
from probing.measures.classification import Classification, ClassificationParameters
from probing.measures.label_map import LabelMap, LabelMapError, guess_label_map, read_label_map
from probing.measures.probe_stimuli import SENTIMENT, ProbeGroup, ProbeStimuli, ProbeTemplate
from probing.models import (
    GroupLexicon,
    LanguageModel,
    ModelKind,
    ModelSource,
    Run,
    RunEventKind,
    RunOrigin,
    RunStatus,
    Shard,
    ShardStatus,
)
from probing.runs.events import log_event
from probing.runs.parameters import to_parquet
from probing.runs.result_storage import store_scores

#: How the notice begins that names the file.
SOURCE = "Predictions made elsewhere, from"
NAME_LENGTH, DATA_SET_LENGTH, REVISION_LENGTH = 160, 100, 80
ONE_RUN = "run 1"


@dataclass(frozen=True)
class Sentence:
    """A sentence as a file of predictions gives it; `text` is empty where the file has none."""

    group: str
    text: str
    label: int


@dataclass(frozen=True)
class Predicted:
    """Predictions by producer and run: each has one class for every sentence, in their order."""

    sentences: tuple[Sentence, ...]
    predicted: dict[str, dict[str, tuple[int, ...]]]

    def digest(self, name: str, data_set: str) -> str:
        """Return the hash of what a producer predicted on it, however the file wrote it."""
        runs = sorted(self.predicted[name].items())
        columns = (labels for _, labels in runs)
        return digest_rows(
            zip(self.sentences, *columns, strict=True), name, data_set, [run for run, _ in runs]
        )


#: What other programs call the true label and the predicted one.
LABEL_NAMES = ("label", "sent", "true_label", "gold", "gold_label", "target")
PREDICTED_NAMES = (
    *("predicted", "prediction", "pred", "predicted_label", "pred_label", "answer"),
    *("filtered_resps", "output.label", "output", "completion", "response"),
)
#: Columns of one run each, such as seed_1, pred_2024, or y_pred (run 3).
RUN = re.compile(
    r"(?:(?:y|model|clf)[ _.-]?)?(?:pred(?:iction|icted)?s?|seed|run|fold|repeat)[ _.(-]*"
    r"(?:(?:seed|run|fold|repeat)[ _.-]*)?\d+\)?",
    re.IGNORECASE,
)
#: Columns with the probability or score of one label, such as prob_positive or p(0); or of “yes”.
LIKELIHOOD = re.compile(
    r"(?:y_)?(?:prob(?:abilit(?:y|ies))?s?|p|scores?|logits?|logprobs?|likelihood)"
    r"(?:[ _.(-]+(?:of[ _])?(?P<label>[^()]+?)\)?)?",
    re.IGNORECASE,
)
LIKELIHOODS = "probability of "
HALF = 0.5
#: The other of two labels, where one alone has a probability.
OTHER_LABEL = {"1": "0", "0": "1", "true": "false", "yes": "no", "negative": "positive"}
OTHER_LABEL |= {"label_1": "label_0", "pos": "neg", "neg": "pos"}


class Predictions(ImportKind):
    """What classifiers said of the same sentences; bad rows cannot always be left out of them."""

    name = "predictions"
    title = "Predictions"
    purpose = (
        "What classifiers said of labeled sentences: a row for each sentence, model and run; or a "
        "row for each sentence with a column “MODEL:RUN” for each run, such as seed_1, or with the "
        "probability of each label, of which the likeliest counts. Each producer becomes a run."
    )
    permission = "probing.add_run"
    may_end_early = True
    columns = (
        ImportColumn("y_true", "the true label", needed=True, other_names=LABEL_NAMES),
        ImportColumn(
            "group",
            "slug of the group that is mentioned",
            needed=True,
            other_names=("target_group",),
        ),
        ImportColumn("y_pred", "what was predicted", other_names=PREDICTED_NAMES),
        ImportColumn("text", "the sentence", other_names=("sentence", "input")),
        ImportColumn("model", "who predicted it", other_names=("producer",)),
        ImportColumn(
            "run_id", "which run of the model", other_names=("run", "seed", "repeat", "epoch")
        ),
    )
    options = (
        ImportOption(
            "data_set",
            "Set of sentences",
            "Its name as reports print it, such as amazon.",
            needed=True,
        ),
        ImportOption("producer", "Producer", "Who made them, if no column “model” says so."),
        ImportOption(
            "labels",
            "Labels",
            "ternary (0, 1, 2), sst5, semeval, or a map such as “bad=negative, good=positive”; "
            "without any, ternary.",
        ),
    )

    def further(self) -> FurtherColumns:
        return FurtherColumns(_find_further)

    def plan(self, request: ImportRequest) -> ImportPlan:
        read = self.rows(request)
        held = set(read.held)
        further = sorted(held - {column.name for column in self.columns})
        wide = [name for name in further if not name.startswith(LIKELIHOODS)]
        likely = [name for name in further if name.startswith(LIKELIHOODS)]
        if bool("y_pred" in held) + bool(wide) > 1 or not ("y_pred" in held or further):
            raise TableFileError(
                "Give what was predicted in a column “y_pred”, in columns called “MODEL:RUN”, one "
                "for each run, or as the probability of each label, such as prob_positive. The "
                f"columns are {', '.join((*sorted(held), *read.unread))}."
            )
        if not any(":" in name for name in wide) and not (
            "model" in held or request.option("producer")
        ):
            raise ValidationError(
                {"producer": "The file has no column “model”. Name the producer."}
            )
        asked = wide or ["y_pred"]
        remarks = list(read.notices)
        if asked == ["y_pred"] and "y_pred" not in held:
            remarks.append(_choose_likeliest(read, likely))
        elif likely:
            remarks.append(f"Nothing is read from {', '.join(likely)}: the labels are there.")
        said = (_say(row, name) for row in read.rows for name in ("y_true", *asked))
        known, remark = guess_label_map(said)
        known = request.option("labels") or known
        remarks += [remark] if remark and not request.option("labels") else []
        try:
            labels = read_label_map(known)
        except LabelMapError as error:
            raise ValidationError({"labels": str(error)}) from error
        by_run: dict[tuple[str, str], list[tuple[Sentence, int]]] = {}
        for row in read.rows:
            _read_row(row, wide, request.option("producer"), labels, by_run)
        found = _align(by_run, read)
        name = request.option("data_set")[:DATA_SET_LENGTH]
        stimuli, more = build_stimuli(found.sentences, name, known_groups())
        _refuse_names(found, name)
        return ImportPlan(
            counts={
                "sentences": len(found.sentences),
                "models": len(found.predicted),
                "runs": sum(map(len, found.predicted.values())),
            },
            problems=read.told_problems,
            warnings=(*read.warnings, *remarks[len(read.notices) :], *more),
            data=(found, stimuli, [*remarks, *more], known),
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        found, stimuli, remarks, labels = plan.data
        revision = _revision(request)
        source = f"{SOURCE} “{request.file_name}” (SHA-256 {revision[7:19]}…)."
        user = account(request.user)
        runs = [
            _store(name, found, stimuli, labels, [source, *remarks], revision, user)
            for name in found.predicted
        ]
        one = len(runs) == 1
        return Imported(
            ", ".join(f"Run {run.pk} of {run.model.name}" for run in runs),
            runs[0].public_id,
            reverse(
                f"admin:probing_run_{'change' if one else 'changelist'}",
                args=[runs[0].pk] if one else [],
            ),
        )


def _find_further(heading: str) -> str:
    """Return what a column holds beyond `Predictions.columns`: a run, or how likely a label is."""
    if ":" in heading or RUN.fullmatch(heading.strip()):
        return heading
    found = LIKELIHOOD.fullmatch(heading.strip())
    return f"{LIKELIHOODS}{(found['label'] or '').strip()}" if found else ""


def _say(row: ImportRow, name: str) -> str:
    """Return a label as it is written; JSON has true and false."""
    value = row.values.get(name)
    return str(value).lower() if isinstance(value, bool) else row.text(name)


def _choose_likeliest(read: ReadRows, columns: Sequence[str]) -> str:
    """Give each row the label that is likeliest, and return a notice of it.

    One column alone has the probability of the positive label. What is wrong is left with its row.
    """
    lists = [row.values.get(columns[0]) for row in read.rows]
    is_list = len(columns) == 1 and any(isinstance(one, list) for one in lists)
    is_one = len(columns) == 1 and not is_list
    numbers: dict[str, float | None]
    for row in read.rows:
        if is_list:
            given = row.values.get(columns[0])
            values = dict(enumerate(given)) if isinstance(given, list) else {}
            inner = ImportRow(row.line, {str(n): value for n, value in values.items()}, row.faults)
            numbers = {label: inner.number(label, needed=True) for label in inner.values}
        else:
            numbers = {
                name.removeprefix(LIKELIHOODS): row.number(name, needed=True) for name in columns
            }
        if not numbers:
            row.fault("has no probabilities.")
        if row.faults:
            continue
        found = {label: number for label, number in numbers.items() if number is not None}
        if is_one:
            (label, number), *_ = found.items()
            if not 0 <= number <= 1:
                row.refuse(columns[0], f"{number:g}", "a probability from 0 to 1")
            label = label or SENTIMENT[-1]
            other = OTHER_LABEL.get(label.casefold(), SENTIMENT[0])
            found = {label: number, other: 1 - number}
        most = max(found.values())
        best = [label for label, number in found.items() if number == most]
        if len(best) > 1:
            row.fault(f"Two labels are equally likely: {' and '.join(best)}.")
        row.values = {**row.values, "y_pred": best[0]}
    if is_one:
        return f"What was predicted is the label with a probability above {HALF}: {columns[0]}."
    named = "a list by number" if is_list else ", ".join(columns)
    return f"What was predicted is the likeliest label of each row, from {named}."


def _revision(request: ImportRequest) -> str:
    """Return what stands in the record where our own runs have the commit of the weights."""
    return f"sha256:{hashlib.sha256(request.content).hexdigest()}"[:REVISION_LENGTH]


def _read_row(
    row: ImportRow,
    wide: Sequence[str],
    producer: str,
    labels: LabelMap,
    by_run: dict[tuple[str, str], list[tuple[Sentence, int]]],
) -> None:
    """Add what a row says to its runs; what is wrong with it is left with the row."""
    asked = wide or ["y_pred"]
    group, text = row.text("group", needed=True), " ".join(row.text("text").split())
    said = [_say(row, name) for name in ("y_true", *asked)]
    model = producer or row.text("model")
    names = [
        (one.rpartition(":")[0].strip() or model, one.rpartition(":")[2].strip()) for one in wide
    ] or [(model, row.text("run_id") or ONE_RUN)]
    for name, _ in names:
        if not 0 < len(name) <= NAME_LENGTH:
            row.refuse("model", name, f"a name of 1 to {NAME_LENGTH} characters")
    if row.faults:
        return
    try:
        true, *predicted = labels.collapse(said)
    except LabelMapError as error:
        row.fault(str(error))
        return
    for key, value in zip(names, predicted, strict=True):
        by_run.setdefault(key, []).append((Sentence(group, text, true), value))


def _refuse_names(found: Predicted, data_set: str) -> None:
    """Raise for models that can be run here, and for what is imported already."""
    known = LanguageModel.objects.filter(name__in=found.predicted)
    if model := known.exclude(source=ModelSource.IMPORTED).first():
        raise ValidationError(
            f"“{model.name}” is the name of a registered model that can be run here. Give the "
            "producer of the predictions another name."
        )
    for name in found.predicted:
        refuse_second(Run, found.digest(name, data_set))


def _align(by_run: dict[tuple[str, str], list[tuple[Sentence, int]]], read: ReadRows) -> Predicted:
    """Return every run's predictions in the order of the first one's sentences."""
    if not by_run:
        read.refuse("No row is left.")
    numbered = {key: _numbered(rows) for key, rows in by_run.items()}
    (first, keys), *_ = ((key, list(rows)) for key, rows in numbered.items())
    for key, rows in numbered.items():
        differing = [sentence for sentence, _ in rows.keys() ^ set(keys)]
        if differing and {(s.group, s.text) for s, _ in rows} == {
            (s.group, s.text) for s, _ in keys
        }:
            read.refuse(
                f"Run “{key[1]}” of “{key[0]}” has other true labels than run “{first[1]}” of "
                f"“{first[0]}”, such as for “{shorten(differing[0].text)}”. Each sentence has one."
            )
        if differing:
            shown = differing[0].text or f"of the group {differing[0].group}"
            read.refuse(
                f"Run “{key[1]}” of “{key[0]}” has other sentences than run “{first[1]}” of "
                f"“{first[0]}”: {len(differing)} differ, such as “{shorten(shown)}”. Import files "
                "of one set of sentences."
            )
    few = [g for g, n in Counter(sentence.group for sentence, _ in keys).items() if n < 2]
    if few:
        read.refuse(f"A group needs at least two sentences, but these have one: {', '.join(few)}.")
    if len({sentence.group for sentence, _ in keys}) < 2:
        read.refuse("The file has one group, and a gap compares at least two.")
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for (name, repeat), rows in numbered.items():
        found.setdefault(name, {})[repeat] = tuple(rows[key] for key in keys)
    return Predicted(tuple(sentence for sentence, _ in keys), found)


def _numbered(rows: Sequence[tuple[Sentence, int]]) -> dict[tuple[Sentence, int], int]:
    """Return predictions by sentence and how often the same one came before it."""
    seen: Counter[Sentence] = Counter()
    found = {}
    for sentence, value in rows:
        found[sentence, seen[sentence]] = value
        seen[sentence] += 1
    return found


def known_groups() -> dict[str, ProbeGroup]:
    """Return the groups of all lexicons by their slugs. One query."""
    entries = GroupLexicon.objects.order_by("pk")
    found: dict[str, ProbeGroup] = {}
    for group in (group for entry in entries for group in stored_groups(entry)):
        found.setdefault(group.slug, group)
    return found


def build_stimuli(
    sentences: Sequence[Sentence], name: str, known: dict[str, ProbeGroup]
) -> tuple[ProbeStimuli, list[str]]:
    """Return the sentences as stimuli, and what could not be found out about them."""
    slugs = list(dict.fromkeys(sentence.group for sentence in sentences))
    with_text = all(sentence.text for sentence in sentences)
    behind: Iterable[tuple[str, int] | None] = [None] * len(sentences)
    if with_text:
        pairs = [(sentence.group, sentence.text) for sentence in sentences]
        behind = unfill(pairs, [known[slug] for slug in slugs if slug in known])
    resolved = list(behind)
    whole = None not in resolved
    remarks = []
    if not with_text:
        remarks.append(
            "The file has no texts, so that words and templates are not known and no interval over "
            "templates can be computed. Import a file with a column “text”."
        )
    elif not whole:
        missing = [s for s, found in zip(sentences, resolved, strict=True) if found is None]
        remarks.append(
            f"{len(missing)} sentences hold no word of their group in any lexicon, such as "
            f"“{missing[0].text[:80]}” ({missing[0].group}): each sentence counts as a template of "
            "its own, and words are not told apart. Import a lexicon with these groups."
        )
    groups = tuple(
        ProbeGroup(
            slug,
            known[slug].name if slug in known else slug.replace("_", " "),
            known[slug].fillers if whole else (),
            known[slug].role if slug in known else "group",
        )
        for slug in slugs
    )
    templates: dict[tuple[str, int], ProbeTemplate] = {}
    cells = []
    for sentence, found in zip(sentences, resolved, strict=True):
        text, filler = found if whole and found else (sentence.text, 0)
        number = f"{name}-{len(templates) + 1}" if text else ""
        key = (text, sentence.label)
        templates.setdefault(key, ProbeTemplate(number, text, sentence.label))
        cells.append((key, sentence.group, filler))
    places = {key: place for place, key in enumerate(templates)}
    group_places = {slug: place for place, slug in enumerate(slugs)}
    return (
        ProbeStimuli(
            tuple(templates.values()),
            groups,
            name,
            cells=tuple((places[key], group_places[slug], f) for key, slug, f in cells),
        ),
        remarks,
    )


def _store(
    name: str,
    found: Predicted,
    stimuli: ProbeStimuli,
    labels: str,
    notices: list[str],
    revision: str,
    created_by: User | None,
) -> Run:
    model, _ = LanguageModel.objects.get_or_create(
        name=name,
        defaults={
            "kind": ModelKind.CLASSIFIER,
            "source": ModelSource.IMPORTED,
            "location": f"predictions:{name}",
        },
    )
    frames = {
        repeat: pd.DataFrame(
            {"repeat": repeat, "sentence": range(len(predicted)), "predicted": predicted}
        )
        for repeat, predicted in found.predicted[name].items()
    }
    parameters = ClassificationParameters(labels=labels)
    now = timezone.now()
    run = Run.objects.create(
        measure=Classification.name,
        model=model,
        parameters=parameters.model_dump(mode="json"),
        stimuli=stimuli.to_dict(),
        stimuli_hash=stimuli.content_hash(),
        status=RunStatus.FINISHED,
        origin=RunOrigin.IMPORTED,
        obtained=notices[0],
        rows_digest=found.digest(name, stimuli.name),
        shard_count=len(frames),
        notices=notices,
        created_by=created_by,
        started_at=now,
        finished_at=now,
        code_version=settings.CODE_VERSION,
        model_revision=revision,
        device="predictions made elsewhere",
    )
    Shard.objects.bulk_create(
        [
            Shard(
                run=run,
                index=index,
                title=f"Run {repeat}"[:300],
                payload={},
                status=ShardStatus.STORED,
                stored_at=now,
                result=to_parquet(frame),
            )
            for index, (repeat, frame) in enumerate(frames.items())
        ]
    )
    rows = Classification().aggregate(stimuli, parameters, list(frames.values()))
    store_scores(
        run,
        [
            {str(name): value for name, value in row.items()}
            for row in rows.to_dict(orient="records")
        ],
    )
    log_event(
        run_id=run.pk,
        kind=RunEventKind.FINISHED,
        message=f"imported, {len(frames)} runs of {len(stimuli.sentences):,} sentences",
    )
    return run
