"""Predictions that were made elsewhere, as finished runs: the inputs of reports on their gaps."""

from __future__ import annotations

from annotation.imports.import_kind import ImportRequest, import_file, import_kinds
from probing.models import Run

NAMES = ("asian", "hispanic", "latino", "tall", "local", "nearby", "visiting", "upstairs")
GROUPS = {"asian": "asian", "hispanic": "hispanic", "latino": "hispanic"}
TEXTS = {"The {} person won.": 2, "The {} person slept.": 1, "The {} person lost.": 0}


def make_runs(models: tuple[str, ...] = ("m1",), data_set: str = "tiny") -> list[Run]:
    """Import two runs of each model: “asian” is called negative in the first one.

    Without a mention the middle sentence is called positive.
    """
    rows = ["y_true\ty_pred\tgroup\ttext\tmodel\trun_id"]
    for model in models:
        for run in ("r0", "r1"):
            for text, label in TEXTS.items():
                for word in NAMES:
                    group = GROUPS.get(word, f"placebo-{word}")
                    said = 0 if word == "asian" and run == "r0" else label
                    rows.append(f"{label}\t{said}\t{group}\t{text.format(word)}\t{model}\t{run}")
                bare = 2 if label == 1 else label
                rows.append(f"{label}\t{bare}\tunmarked\t{text.format('').replace('  ', ' ')}"
                            f"\t{model}\t{run}")  # fmt: skip
    return import_predictions("\n".join(rows).encode(), "p.tsv", data_set)


def import_predictions(content: bytes, file_name: str, data_set: str) -> list[Run]:
    """Import a file of predictions; return its runs in the file's order."""
    before = set(Run.objects.values_list("pk", flat=True))
    request = ImportRequest(content, file_name, {"data_set": data_set})
    import_file(import_kinds()["predictions"], request)
    return list(Run.objects.exclude(pk__in=before).order_by("pk"))
