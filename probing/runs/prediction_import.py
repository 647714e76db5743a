"""Takes in predictions that were made elsewhere, as finished runs of classification.

Everything that reads runs then treats them like our own. The producer is a model without weights;
each of its runs is a shard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.common.lazy import pd
from annotation.common.table_file import Heading
from probing.library.labelled_files import BadRowsError, stored_groups, unfill
from probing.measures.classification import Classification, ClassificationParameters
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli, ProbeTemplate
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
from probing.runs.inputs import to_parquet
from probing.runs.prediction_files import PredictionFile, Sentence, read_predictions
from probing.runs.result_storage import store_scores

#: How the notice begins that names the file.
SOURCE = "Predictions made elsewhere, from"
#: Stands in the record where our own runs have the commit of the weights.
ELSEWHERE = "predictions made elsewhere"


def import_predictions(
    *,
    content: bytes,
    file_name: str,
    data_set: str,
    labels: str = "ternary",
    producer: str = "",
    created_by: User | None = None,
    heading: Heading | None = None,
) -> list[Run]:
    """Store a file's predictions as one finished run for each producer; return the runs.

    data_set : name of the set of sentences, as reports print it
    labels, producer, heading : as for :func:`read_predictions`

    Words and templates are found with the lexicons of the library. Raises
    :class:`BadRowsError`, and then stores nothing.
    """
    if not data_set.strip():
        raise BadRowsError("The set of sentences has no name. Give one, such as amazon.")
    read = read_predictions(content, file_name, labels=labels, producer=producer, heading=heading)
    stimuli, remarks = build_stimuli(read.sentences, data_set.strip()[:100], known_groups())
    digest = hashlib.sha256(content).hexdigest()
    notices = [
        f"{SOURCE} “{file_name}” (SHA-256 {digest[:12]}…).",
        *read.notices,
        *remarks,
    ]
    with transaction.atomic():
        return [
            _store(name, read, stimuli, labels, notices, f"sha256:{digest}", created_by)
            for name in read.predicted
        ]


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
    read: PredictionFile,
    stimuli: ProbeStimuli,
    labels: str,
    notices: list[str],
    revision: str,
    created_by: User | None,
) -> Run:
    model = _producer(name)
    digest = stimuli.content_hash()
    doubled = model.runs.filter(stimuli_hash=digest, model_revision=revision[:80]).first()
    if doubled is not None:
        raise BadRowsError(f"The predictions of “{name}” are imported already, as {doubled}.")
    frames = {
        repeat: pd.DataFrame(
            {"repeat": repeat, "sentence": range(len(predicted)), "predicted": predicted}
        )
        for repeat, predicted in read.predicted[name].items()
    }
    parameters = ClassificationParameters(labels=labels)
    now = timezone.now()
    run = Run.objects.create(
        measure=Classification.name,
        model=model,
        parameters=parameters.model_dump(mode="json"),
        stimuli=stimuli.to_dict(),
        stimuli_hash=digest,
        status=RunStatus.FINISHED,
        origin=RunOrigin.IMPORTED,
        obtained=notices[0],
        shard_count=len(frames),
        notices=notices,
        created_by=created_by,
        started_at=now,
        finished_at=now,
        code_version=settings.CODE_VERSION,
        model_revision=revision[:80],
        device=ELSEWHERE,
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


def _producer(name: str) -> LanguageModel:
    """Return the model without weights of that name, made where it is not there yet."""
    model, _ = LanguageModel.objects.get_or_create(
        name=name,
        defaults={
            "kind": ModelKind.CLASSIFIER,
            "source": ModelSource.IMPORTED,
            "location": f"predictions:{name}",
        },
    )
    if model.source != ModelSource.IMPORTED:
        raise BadRowsError(
            f"“{name}” is the name of a registered model that can be run here. Give the producer "
            "of the predictions another name."
        )
    return model
