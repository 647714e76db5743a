"""The kinds of files that were made elsewhere. A new one is a class and a line here."""

from __future__ import annotations

from annotation.imports.import_kind import ImportKind
from annotation.imports.judgments import Judgments
from annotation.imports.ratings import Ratings
from probing.imports.scores import Scores
from probing.imports.texts import Counterparts, Spans

IMPORTS: dict[str, ImportKind] = {
    kind.name: kind for kind in (Ratings(), Judgments(), Scores(), Spans(), Counterparts())
}
