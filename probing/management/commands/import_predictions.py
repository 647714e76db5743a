"""Imports predictions that were made elsewhere as finished runs of classification."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.common.table_file import TableFileError, read_heading
from annotation.management.file_command import FileCommand
from probing.library.labelled_files import BadRowsError
from probing.runs.prediction_import import import_predictions

PROBLEMS_SHOWN = 100


class Command(FileCommand):
    help = (
        "Imports predictions made elsewhere: tables with columns y_true, y_pred, group, and "
        "perhaps text, model and run_id, or a column “MODEL:RUN” for each run. All or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", help="tables with a heading")
        parser.add_argument(
            "--data-set", required=True, help="name of the set of sentences, such as amazon"
        )
        parser.add_argument(
            "--labels",
            default="ternary",
            help="ternary (0, 1, 2), sst5, semeval, or a map such as “bad=negative, good=positive”",
        )
        parser.add_argument(
            "--producer", default="", help="who made them; default: the column “model”"
        )

        self.add_map(parser, "y_pred=guess")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            heading = read_heading(options["map"])
        except TableFileError as error:
            self.refuse(error)
        for path in options["files"]:
            try:
                runs = import_predictions(
                    content=self.read(path),
                    file_name=path.name,
                    data_set=options["data_set"],
                    labels=options["labels"],
                    producer=options["producer"],
                    heading=heading,
                )
            except BadRowsError as error:
                self.tell(error.problems[:PROBLEMS_SHOWN], path.name)
                raise CommandError(f"{path.name}: {error}") from error
            for run in runs:
                n = run.shard_count
                self.stdout.write(
                    f"{run}: {run.model.name}, {n} run{'' if n == 1 else 's'} of "
                    f"{options['data_set']}."
                )
            for notice in runs[0].notices[1:]:
                self.stdout.write(f"Note: {notice}")
