"""Judgments of counterparts that were collected elsewhere, as a closed study."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from annotation.imports.closed_study import store_closed_study
from annotation.imports.import_kind import (
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ImportRow,
    digest_rows,
    refuse_second,
)
from annotation.imports.options import CORPUS, OBTAINED, find_corpus
from annotation.judgments.error_coding import (
    DEFAULT_SCHEME,
    MARK,
    Passage,
    Scheme,
    parse_passages,
    read_scheme,
    store_scheme,
)
from annotation.judgments.questions import HUMAN, default_wording
from annotation.models import (
    ASPECTS,
    Annotator,
    CodedError,
    Corpus,
    Counterpart,
    Judgment,
    JudgmentDesign,
    JudgmentItem,
    JudgmentTask,
    Study,
    StudyKind,
    TaskState,
    TextPair,
)
from annotation.models.judgment import LIKERT

BATCH = 500
LONGEST_PRODUCER = 260
#: pair, variety, producer, run
ItemKey = tuple[str, str, str, str]


@dataclass(frozen=True)
class JudgmentEntry:
    """One judgment of a file, with the texts that its item shows."""

    item: ItemKey
    pair: TextPair
    body: str
    counterpart: Counterpart | None
    annotator: int
    ratings: dict[str, int]
    comment: str
    seconds: float
    errors: list[Passage]


class Judgments(ImportKind):
    """Likert ratings of counterparts, by judge."""

    name = "judgments"
    title = "Judgments"
    purpose = (
        "Ratings of counterparts from 1 to 5 by judges, on pairs of a corpus. They become a closed "
        "study. Counterparts of models are those that are here already, or stand in the file."
    )
    permission = "annotation.add_judgmentstudy"
    columns = (
        ImportColumn("pair", "slug of the pair in its corpus", needed=True),
        ImportColumn("variety", "that of the counterpart", needed=True),
        ImportColumn("producer", "human, or the model as name@revision", needed=True),
        ImportColumn("annotator", "number of the judge, from 1", needed=True),
        *(ImportColumn(aspect, "1 to 5", needed=True) for aspect in ASPECTS),
        ImportColumn("counterpart", "the text that was judged, where it is not here yet"),
        ImportColumn("run", "tells apart counterparts that one model wrote to one text"),
        ImportColumn("comment", "what the judge added"),
        ImportColumn(
            "errors",
            "passages of the counterpart with errors, such as “misread 5-12; invented 20-24”: "
            "category, first character counted from 0, the character after the last one; empty for "
            "none",
        ),
        ImportColumn("seconds", "with the page in front"),
    )
    options = (
        ImportOption("title", "Title of the study", "Reports print it.", needed=True),
        CORPUS,
        OBTAINED,
        ImportOption(
            "scheme",
            "Categories of errors",
            "One on each line, “name: meaning”. Without any they are those of the file, and ours "
            "where it has no others.",
            is_long=True,
        ),
    )
    ignored = ("study", "item", "source", "original", "original_variety", "judged_on")

    def plan(self, request: ImportRequest) -> ImportPlan:
        corpus = find_corpus(request)
        read = self.rows(request)
        scheme = _find_scheme(request, read.rows)
        reader = _Reader(corpus, read.rows, scheme)
        entries = [entry for row in read.rows if (entry := reader.read(row)) is not None]
        digest = digest_rows(
            ((e.item, e.body, e.annotator, e.ratings, e.comment, e.errors) for e in entries),
            corpus.public_id,
        )
        refuse_second(Study, digest)
        return ImportPlan(
            counts={
                "judgments": len(entries),
                "counterparts": len({entry.item for entry in entries}),
                "judges": len({entry.annotator for entry in entries}),
                **({"errors": sum(len(entry.errors) for entry in entries)} if scheme else {}),
            },
            problems=read.told_problems,
            warnings=read.warnings,
            data=(corpus, entries, scheme, digest),
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        corpus, entries, scheme, digest = plan.data
        study = _store_study(request, corpus, entries, scheme, digest)
        annotators = {
            number: Annotator(study=study, number=number)
            for number in sorted({entry.annotator for entry in entries})
        }
        Annotator.objects.bulk_create(annotators.values(), batch_size=BATCH)
        items = _store_items(study, corpus, entries)
        positions: Counter[int] = Counter()
        tasks = []
        now = timezone.now()
        for entry in entries:
            positions[entry.annotator] += 1
            tasks.append(
                JudgmentTask(
                    study=study,
                    annotator=annotators[entry.annotator],
                    item=items[entry.item],
                    position=positions[entry.annotator],
                    active_seconds=entry.seconds,
                    state=TaskState.DONE,
                    done_at=now,
                )
            )
        JudgmentTask.objects.bulk_create(tasks, batch_size=BATCH)
        judgments = Judgment.objects.bulk_create(
            [
                Judgment(task=task, comment=entry.comment, **entry.ratings)
                for task, entry in zip(tasks, entries, strict=True)
            ],
            batch_size=BATCH,
        )
        CodedError.objects.bulk_create(
            [
                CodedError(judgment=judgment, category=one.category, start=one.start, end=one.end)
                for judgment, entry in zip(judgments, entries, strict=True)
                for one in entry.errors
            ],
            batch_size=BATCH,
        )
        address = reverse("admin:annotation_judgmentstudy_overview", args=[study.pk])
        return Imported(f"Study “{study.title}”", study.public_id, address)


class _Reader:
    """Reads rows against a corpus and the counterparts of its texts. Two queries."""

    def __init__(self, corpus: Corpus, rows: list[ImportRow], scheme: Scheme) -> None:
        self.corpus = corpus
        self.categories = [category.slug for category in scheme]
        pairs = corpus.pairs.select_related("source_text", "target_text")
        self.pairs = {pair.slug: pair for pair in pairs}
        self.written: dict[tuple[int, str, str], list[Counterpart]] = {}
        for one in Counterpart.objects.filter(text__corpus=corpus).exclude(run="").order_by("pk"):
            for key in (one.run, one.model):
                self.written.setdefault((one.text_id, one.variety, key), []).append(one)
        self.lines: dict[tuple[ItemKey, int], int] = {}
        self.bodies: dict[ItemKey, str] = {}

    def read(self, row: ImportRow) -> JudgmentEntry | None:
        """Return a row's judgment, None where something is wrong with it."""
        pair = self._pair(row)
        variety = row.text("variety", needed=True)
        if variety and variety not in (self.corpus.source_variety, self.corpus.target_variety):
            known = f"{self.corpus.source_variety} or {self.corpus.target_variety}"
            row.refuse("variety", variety, known)
        producer = row.text("producer", longest=LONGEST_PRODUCER, needed=True)
        number = row.whole("annotator", least=1, needed=True)
        ratings = {
            aspect: row.whole(aspect, least=LIKERT[0], most=LIKERT[-1], needed=True)
            for aspect in ASPECTS
        }
        comment, seconds = row.text("comment", as_written=True), row.number("seconds") or 0.0
        if row.faults or pair is None or number is None:
            return None
        found = self._counterpart(row, pair, variety, producer)
        if found is None:
            return None
        run, body, counterpart = found
        item = (pair.slug, variety, producer, run)
        if before := self.lines.get((item, number)):
            row.fault(f"judge {number} judged this counterpart on line {before} already.")
            return None
        if self.bodies.setdefault(item, body) != body:
            row.fault("“counterpart” differs from that of a row above for the same item.")
            return None
        try:
            errors = parse_passages(row.text("errors"), body, self.categories)
        except ValueError as fault:
            row.fault(f"“errors” has {fault}.")
            return None
        self.lines[item, number] = row.line
        whole = {name: value for name, value in ratings.items() if value is not None}
        return JudgmentEntry(
            item, pair, body, counterpart, number, whole, comment, max(0, seconds), errors
        )

    def _pair(self, row: ImportRow) -> TextPair | None:
        slug = row.text("pair", needed=True)
        if slug and slug not in self.pairs:
            why = f"which “{self.corpus.name}” does not have."
            row.refuse("pair", slug, "the slug of a pair", why=why)
        return self.pairs.get(slug)

    def _counterpart(
        self, row: ImportRow, pair: TextPair, variety: str, producer: str
    ) -> tuple[str, str, Counterpart | None] | None:
        """Return run, text and stored counterpart of what was judged."""
        into_target = variety == self.corpus.target_variety
        gold = pair.target_text if into_target else pair.source_text
        original = pair.source_text if into_target else pair.target_text
        given, run = row.text("counterpart", as_written=True), row.text("run", longest=12)
        if producer == HUMAN:
            if given and given != gold.body:
                row.fault("“counterpart” is not the gold text of the pair.")
                return None
            return "", gold.body, None
        found = self.written.get((original.pk, variety, run or producer), [])
        found = found or self.written.get((original.pk, variety, producer), [])
        same = [one for one in found if not given or one.body == given]
        if same:
            return same[0].run, same[0].body, same[0]
        if not given:
            row.fault(
                f"no counterpart in {variety} by “{producer}” is here. Import the counterparts "
                "first, or give the text in the column “counterpart”."
            )
            return None
        return run, given, None


def _find_scheme(request: ImportRequest, rows: list[ImportRow]) -> Scheme:
    """Return the categories of errors: those that are given, ours, or those that rows name.

    Without a column of errors there are none, and giving them raises `ValidationError`, as does
    what is no scheme.
    """
    given = str(request.options.get("scheme") or "")
    coded = [str(row.values["errors"] or "") for row in rows if "errors" in row.values]
    if not coded:
        if given.strip():
            raise ValidationError({"scheme": "The file has no column “errors”."})
        return ()
    try:
        if given.strip():
            return read_scheme(given)
        named = {match[1]: None for cell in coded for match in MARK.finditer(cell)}
        ours = {category.slug for category in DEFAULT_SCHEME}
        return DEFAULT_SCHEME if named.keys() <= ours else read_scheme("\n".join(named))
    except ValidationError as error:
        raise ValidationError({"scheme": error.messages}) from error


def _store_study(
    request: ImportRequest,
    corpus: Corpus,
    entries: list[JudgmentEntry],
    scheme: Scheme,
    digest: str,
) -> Study:
    study = store_closed_study(
        title=request.option("title"),
        owner=request.user,
        kind=StudyKind.COUNTERPART_JUDGMENT,
        rows_digest=digest,
        source=f"{request.option('obtained')}\nFile: {request.file_name}",
    )
    judges = Counter(entry.item for entry in entries)
    doubled = sum(n > 1 for n in judges.values())
    JudgmentDesign.objects.create(
        study=study,
        corpus=corpus,
        n_texts=len({entry.item[0] for entry in entries}),
        runs=sorted({entry.item[3] for entry in entries} - {""}),
        include_human=any(entry.item[2] == HUMAN for entry in entries),
        complete=False,
        overlap_percent=100 * doubled / len(judges),
        wording=default_wording(),
        error_scheme=store_scheme(scheme),
    )
    return study


def _store_items(
    study: Study, corpus: Corpus, entries: list[JudgmentEntry]
) -> dict[ItemKey, JudgmentItem]:
    judges = Counter(entry.item for entry in entries)
    items: dict[ItemKey, JudgmentItem] = {}
    for entry in entries:
        _pair, variety, producer, run = entry.item
        into_target = variety == corpus.target_variety
        items.setdefault(
            entry.item,
            JudgmentItem(
                study=study,
                pair=entry.pair,
                text=entry.pair.source_text if into_target else entry.pair.target_text,
                variety=variety,
                body=entry.body,
                producer=producer,
                run=run,
                counterpart=entry.counterpart,
                judges_wanted=judges[entry.item],
            ),
        )
    JudgmentItem.objects.bulk_create(items.values(), batch_size=BATCH)
    return items
