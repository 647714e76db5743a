"""Registers language models, and finds the registered ones again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from django.db import transaction

from probing.models import LanguageModel, ModelKind, ModelSource
from probing.runs.errors import RunError

if TYPE_CHECKING:
    from probing.lm.sources import ModelFacts

T = TypeVar("T")
NAME_LENGTH = 160


def register_model(
    *, location: str, name: str | None = None, revision: str = "", is_demo: bool = False
) -> LanguageModel:
    """Register the model at a hub id or in a folder; its configuration says the rest.

    The same place and revision a second time gives the model that is registered already, under
    its first name. Without a name it gets the hub id, or the folder's name.

    Raises :class:`RunError` (at ``location``, ``revision`` or ``name``) if there is no such
    model, if it is not a masked one of a known family, or if the name is taken.
    """
    from probing.lm.sources import local_folder

    location, revision = location.strip(), revision.strip()
    folder = _ask(lambda: local_folder(location))
    if folder is not None:
        location = str(folder.resolve())
        if revision:
            raise RunError.at(
                "revision",
                f"The revision is “{revision}”, expected none: “{location}” is a folder, and "
                "only models of the hub have revisions.",
            )
    source = ModelSource.HUB if folder is None else ModelSource.PATH
    known = LanguageModel.objects.filter(source=source, location=location, revision=revision)
    facts = _ask(lambda: _inspect(location, revision))
    with transaction.atomic():
        if registered := known.first():
            return registered
        model = LanguageModel(
            name=_given_name(name or "") or _derived_name(location, revision),
            kind=ModelKind.MASKED,
            family=facts.family,
            source=source,
            location=location,
            revision=revision,
            parameter_count=facts.parameter_count,
            is_demo=is_demo,
        )
        model.full_clean()
        model.save(force_insert=True)
        return model


def is_registered(*, location: str, revision: str = "") -> LanguageModel | None:
    """Return the model that is registered for a hub id or folder, if there is one. One query."""
    location = location.strip()
    places = [location]
    if Path(location).expanduser().is_dir():
        places.append(str(Path(location).expanduser().resolve()))
    return LanguageModel.objects.filter(location__in=places, revision=revision.strip()).first()


def find_model(*, wanted: str, revision: str = "") -> LanguageModel:
    """Return the registered model of that name, or register what is at that place."""
    if not revision and (registered := LanguageModel.objects.filter(name=wanted).first()):
        return registered
    return register_model(location=wanted, revision=revision)


def _inspect(location: str, revision: str) -> ModelFacts:
    """Return what the configuration says; raises if the model could not be used."""
    from probing.lm import inspect_model, load_tokenizer

    load_tokenizer(location, revision=revision or None)
    return inspect_model(location, revision or None)


def _ask(question: Callable[[], T]) -> T:
    """Return the answer, or raise what it says about the model as an error at ``location``."""
    from probing.lm.errors import LanguageModelError

    try:
        return question()
    except LanguageModelError as error:
        raise RunError.at("location", str(error)) from error


def _given_name(name: str) -> str:
    name = name.strip()
    if len(name) > NAME_LENGTH:
        raise RunError.at(
            "name", f"The name has {len(name)} characters, expected at most {NAME_LENGTH}."
        )
    if LanguageModel.objects.filter(name=name).exists():
        raise RunError.at(
            "name", f"A model named “{name}” is registered already. Choose another name."
        )
    return name


def _derived_name(location: str, revision: str) -> str:
    """Return the hub id or the folder's name, made unique by revision or number."""
    folder = Path(location)
    base = folder.name if folder.is_absolute() else location
    base = f"{base} @ {revision}" if revision else base
    base = base[: NAME_LENGTH - 6]
    names = chain([base], (f"{base} ({number})" for number in count(2)))
    return next(name for name in names if not LanguageModel.objects.filter(name=name).exists())
