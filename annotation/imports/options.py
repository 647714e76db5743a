"""Options that several kinds of import ask for."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db.models import Q

from annotation.corpora.access import visible_corpora
from annotation.imports.import_kind import ImportOption, ImportRequest
from annotation.models import Corpus


def corpora_seen(user: AbstractBaseUser | None) -> list[tuple[str, str]]:
    """Return public ids and names of the corpora that an import can be for. One query."""
    found = Corpus.objects.all() if user is None else visible_corpora(user)
    return list(found.order_by("name").values_list("public_id", "name"))


CORPUS = ImportOption(
    "corpus",
    "Corpus",
    "The corpus whose pairs the file is about.",
    needed=True,
    choices=corpora_seen,
)
OBTAINED = ImportOption(
    "obtained",
    "How it was obtained",
    "Who made it, when and how: a publication, a service and its date. Reports print it.",
    needed=True,
    is_long=True,
)


def find_corpus(request: ImportRequest) -> Corpus:
    """Return the corpus of a request, by public id or name. Raises `ValidationError`."""
    wanted = request.option("corpus")
    seen = Corpus.objects.all() if request.user is None else visible_corpora(request.user)
    found = seen.filter(Q(public_id=wanted) | Q(name=wanted)).first()
    if found is None:
        raise ValidationError({"corpus": f"There is no corpus “{wanted}” that you may see."})
    return found
