"""What imports of a model's results have in common: the producer, and the run that they become."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import pydantic
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone

from annotation.common.table_file import TableFileError
from annotation.imports.import_kind import (
    ImportColumn,
    Imported,
    ImportKind,
    ImportOption,
    ImportPlan,
    ImportRequest,
    ReadRows,
    digest_rows,
    refuse_second,
)
from annotation.imports.options import OBTAINED
from annotation.models import Corpus
from probing.measures.base import AnyMeasure, ResultKind, StimuliValue
from probing.measures.registry import MEASURES
from probing.models import (
    LanguageModel,
    ModelKind,
    ModelSource,
    Run,
    RunEventKind,
    RunOrigin,
    RunStatus,
)
from probing.runs.events import log_event
from probing.runs.result_storage import STORE, Row

LONGEST_MODEL, LONGEST_REVISION = 160, 80
#: Columns that say the same on every row, as our own downloads do.
PRODUCER_COLUMNS = (
    ImportColumn("model", "its name, where it is not given beside the file"),
    ImportColumn("revision", "which version of it", other_names=("model_revision",)),
    ImportColumn("measure", "what was measured, where it is not given beside the file"),
    ImportColumn("meaningless", "yes for a fixture whose results mean nothing"),
)


class RunImport(ImportKind):
    """Results of a model, which become a finished run marked as imported."""

    permission = "probing.add_run"
    result: ClassVar[ResultKind]
    value_columns: ClassVar[tuple[ImportColumn, ...]]
    own_options: ClassVar[tuple[ImportOption, ...]] = ()
    ignored: ClassVar[tuple[str, ...]] = ("run",)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.columns = (*cls.value_columns, *PRODUCER_COLUMNS)
        cls.options = (
            ImportOption("model", "Model", "Its name as reports print it, such as gpt-4."),
            ImportOption("revision", "Revision", "Which version of it: a commit, a date."),
            ImportOption(
                "measure", "Measure", "What was measured.", choices=lambda user: cls.measures()
            ),
            *cls.own_options,
            ImportOption(
                "parameters", "Parameters", "Of the measure, as a JSON object; may be left out."
            ),
            OBTAINED,
        )

    @classmethod
    def measures(cls) -> list[tuple[str, str]]:
        """Return the measures with this kind of result, by name and title."""
        return [(m.name, m.title) for m in MEASURES.values() if m.result is cls.result]

    @abstractmethod
    def read(
        self, request: ImportRequest, read: ReadRows
    ) -> tuple[list[Row], StimuliValue, Corpus | None]:
        """Return good rows as the engine stores them, what they are about, and the corpus.

        What is wrong with a row is left with it.
        """

    @abstractmethod
    def count(self, rows: Sequence[Row]) -> dict[str, int]:
        """Return what would be stored."""

    def plan(self, request: ImportRequest) -> ImportPlan:
        read = self.rows(request)
        further = set(read.held) - {column.name for column in self.columns}
        read.refuse_placeholders("value", *further)
        producer = self._producer(request, read)
        rows, stimuli, corpus = self.read(request, read)
        about = [corpus.public_id if corpus else "", producer["measure"].name]
        facts = [producer["model"], producer["revision"], sorted(producer["parameters"].items())]
        digest = digest_rows(rows, *about, *facts)
        refuse_second(Run, digest)
        return ImportPlan(
            counts=self.count(rows),
            problems=read.told_problems,
            warnings=read.warnings,
            data=(rows, stimuli, corpus, producer, digest),
        )

    def store(self, request: ImportRequest, plan: ImportPlan) -> Imported:
        rows, stimuli, corpus, producer, digest = plan.data
        now = timezone.now()
        run = Run.objects.create(
            measure=producer["measure"].name,
            model=_find_model(producer),
            model_revision=producer["revision"],
            parameters=producer["parameters"],
            corpus=corpus,
            stimuli=stimuli.to_dict(),
            stimuli_hash=stimuli.content_hash(),
            origin=RunOrigin.IMPORTED,
            obtained=request.option("obtained"),
            rows_digest=digest,
            status=RunStatus.FINISHED,
            created_by=account(request.user),
            started_at=now,
            finished_at=now,
            code_version=settings.CODE_VERSION,
        )
        stored = STORE[self.result](run, rows)
        log_event(
            run_id=run.pk,
            kind=RunEventKind.FINISHED,
            message=f"imported from {request.file_name[:200]}, {stored}",
        )
        return Imported(
            f"Run {run.pk}", run.public_id, reverse("admin:probing_run_change", args=[run.pk])
        )

    def _producer(self, request: ImportRequest, read: ReadRows) -> dict[str, Any]:
        """Return who made it: options before columns, which say the same on every row."""
        known = {name: request.option(name) or read.the_one(name) for name in ("model", "revision")}
        lengths = {"model": LONGEST_MODEL, "revision": LONGEST_REVISION}
        faults = {
            name: f"It has {len(known[name])} characters, expected {most} at most."
            for name, most in lengths.items()
            if len(known[name]) > most
        }
        if not known["model"]:
            faults["model"] = "Name the model that made it, here or in a column “model”."
        name = request.option("measure") or read.the_one("measure")
        offered = dict(self.measures())
        if not name and len(offered) == 1:
            (name,) = offered
        if name not in offered:
            faults["measure"] = f"“{name}” is not known here, expected {', '.join(offered)}."
        if faults:
            raise ValidationError(faults)
        measure = MEASURES[name]
        return {
            **known,
            "measure": measure,
            "parameters": _read_parameters(measure, request.option("parameters")),
            "is_demo": read.the_one("meaningless") == "yes",
        }


def _read_parameters(measure: AnyMeasure, text: str) -> dict[str, Any]:
    """Return the parameters that are given, checked by the measure's schema."""
    try:
        given = json.loads(text or "{}")
        measure.Parameters.model_validate(given)
    except (ValueError, pydantic.ValidationError) as error:
        first = str(error).splitlines()[0]
        expected = ", ".join(measure.Parameters.model_fields)
        raise ValidationError(
            {"parameters": f"They cannot be read ({first}). Give a JSON object of: {expected}."}
        ) from error
    return given


def _find_model(producer: dict[str, Any]) -> LanguageModel:
    """Return the model of that name, one without weights where there is none."""
    name: str = producer["model"]
    model, _ = LanguageModel.objects.get_or_create(
        name=name,
        defaults={
            "kind": ModelKind.UNKNOWN,
            "source": ModelSource.IMPORTED,
            "location": name,
            "is_demo": producer["is_demo"],
        },
    )
    return model


def account(user: AbstractBaseUser | None) -> User | None:
    """Return who imports; None by command without an owner."""
    return user if isinstance(user, User) else None


def read_value(row: Any) -> dict[str, Any]:
    """Return value, reason and number of values of a row, as the engine stores them."""
    value, n = row.number("value"), row.whole("n")
    reason = row.text("reason", longest=200)
    if value is None and not row.faults:
        reason = reason or "not in the file that was imported"
    return {
        "value": float("nan") if value is None else value,
        "reason": "" if value is not None else reason,
        "n": n if n is not None else int(value is not None),
    }


def refuse_empty(rows: Sequence[Row]) -> None:
    """Raise `TableFileError` where nothing is left that stimuli could be made of."""
    if not rows:
        raise TableFileError("The file has no row that can be imported.")
