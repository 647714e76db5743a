"""Registers language models, and finds the registered ones again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from probing.lm.errors import ModelNotFoundError
from probing.lm.sources import local_place
from probing.models import LanguageModel, ModelKind, ModelSource
from probing.runs.certificates import ensure_certificate, why_unusable
from probing.runs.errors import RunError
from probing.runs.model_access import check_folder, check_key
from probing.runs.served_models import examine_server

if TYPE_CHECKING:
    from probing.lm.sources import ModelFacts

T = TypeVar("T")
NAME_LENGTH = 160


@dataclass(frozen=True)
class ModelPlace:
    """Where a model is: what tells it from every other one."""

    source: ModelSource
    location: str
    revision: str = ""
    served_name: str = ""


def register_model(
    *,
    location: str,
    name: str | None = None,
    revision: str = "",
    served_name: str = "",
    key_variable: str = "",
    input_price: Decimal | None = None,
    output_price: Decimal | None = None,
    price_currency: str = "",
    is_demo: bool = False,
) -> LanguageModel:
    """Register the model at a hub id, in a folder, or behind a server's base URL.

    For hub and folder the configuration says the rest. A chat model has a ``served_name``, and a
    ``key_variable`` where its server wants a key; its server is tried, and what was seen is kept
    with the model. If it cannot be reached from here, it is tried again when a run begins, since
    the workers may reach what this process does not. Its prices are for a million tokens.

    The same place a second time gives the model that is registered already, under its first
    name; a server is tried again, and so are files that could not be read and have changed. Without
    a name it gets the hub id, the folder's name, or the served name.

    Raises :class:`RunError` (at ``location``, ``revision``, ``served_name``, ``key_variable`` or
    ``name``) if there is no such model, if it is of a kind that no measure uses, or if the name
    is taken.
    """
    model = describe_model(
        location=location,
        name=name,
        revision=revision,
        served_name=served_name,
        key_variable=key_variable,
    )
    if model.pk is None:
        model.is_demo = is_demo
        model.input_price, model.output_price = input_price, output_price
        model.price_currency = price_currency
        try:
            model.full_clean()
        except ValidationError as error:
            raise RunError.at("input_price", " ".join(error.messages)) from error
        model.save(force_insert=True)
        ensure_certificate(model)
    elif why_unusable(model):
        ensure_certificate(model)
    if model.kind == ModelKind.CHAT:
        examine_server(model)
    return model


def describe_model(
    *,
    location: str,
    name: str | None = None,
    revision: str = "",
    served_name: str = "",
    key_variable: str = "",
) -> LanguageModel:
    """Return the model registered for a place, or a new one that is not stored yet.

    Raises as :func:`register_model` does.
    """
    place = _read_place(location, revision, served_name)
    if place.source == ModelSource.SERVER:
        check_key(key_variable.strip(), place.location)
        facts = None
    else:
        if key_variable.strip():
            raise RunError.at(
                "key_variable",
                f"The key’s variable is “{key_variable.strip()}”, expected none: only models "
                "behind a server have keys. The hub’s token is in HF_TOKEN.",
            )
        facts = _ask(lambda: _inspect(place.location, place.revision))
    if registered := _registered_at(place):
        return registered
    return LanguageModel(
        name=_given_name(name or "") or _derived_name(place),
        kind=ModelKind.CHAT if facts is None else ModelKind(facts.kind),
        family="" if facts is None else facts.family[:40],
        source=place.source,
        location=place.location,
        served_name=place.served_name,
        key_variable=key_variable.strip(),
        revision=place.revision,
        parameter_count=None if facts is None else facts.parameter_count,
    )


def is_registered(
    *, location: str, revision: str = "", served_name: str = ""
) -> LanguageModel | None:
    """Return the model that is registered for a place, if there is one. One query."""
    location, served_name = location.strip(), served_name.strip()
    if is_address(location):
        return _registered_at(
            ModelPlace(ModelSource.SERVER, _tidy_address(location), "", served_name)
        )
    places = [location]
    with suppress(ModelNotFoundError):
        if (place := local_place(location)) is not None:
            places.append(_resolved(place))
    return LanguageModel.objects.filter(
        location__in=places, revision=revision.strip(), served_name=""
    ).first()


def find_model(
    *, wanted: str, revision: str = "", served_name: str = "", key_variable: str = ""
) -> LanguageModel:
    """Return the registered model of that name, or register what is at that place."""
    if not (revision or served_name) and (
        registered := LanguageModel.objects.filter(name=wanted).first()
    ):
        return registered
    return register_model(
        location=wanted, revision=revision, served_name=served_name, key_variable=key_variable
    )


def is_address(location: str) -> bool:
    """Return whether a location is a server's base URL, rather than a hub id or a folder."""
    return location.strip().lower().startswith(("http://", "https://"))


def _read_place(location: str, revision: str, served_name: str) -> ModelPlace:
    """Return where a model is said to be; raises for what contradicts itself."""
    location, revision, served_name = location.strip(), revision.strip(), served_name.strip()
    if is_address(location):
        if revision:
            raise RunError.at(
                "revision",
                f"The revision is “{revision}”, expected none: a server decides itself which "
                "revision it serves.",
            )
        return ModelPlace(
            ModelSource.SERVER, _check_address(location), "", _check_served(served_name)
        )
    if served_name:
        raise RunError.at(
            "served_name",
            f"The name on the server is “{served_name}”, but “{location}” is not a server’s "
            "address. Give its base URL as location, such as http://localhost:11434/v1.",
        )
    if _is_path(location):
        check_folder(location)
    place = _ask(lambda: local_place(location))
    if place is None:
        return ModelPlace(ModelSource.HUB, location, revision)
    location = _resolved(place)
    if revision:
        raise RunError.at(
            "revision",
            f"The revision is “{revision}”, expected none: “{location}” is on this machine, and "
            "only models of the hub have revisions.",
        )
    return ModelPlace(ModelSource.PATH, location)


def _resolved(place: Path) -> str:
    """Return the one path of a folder or file; a file keeps its name, which may be a link's."""
    return str(place.parent.resolve() / place.name if place.is_file() else place.resolve())


def _is_path(location: str) -> bool:
    """Whether a location would be read as a folder: it looks like one, or there is one."""
    folder = Path(location).expanduser()
    return folder.is_absolute() or location.startswith((".", "~")) or folder.exists()


def _check_address(location: str) -> str:
    try:
        parts = urlsplit(location)
        usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment:
        raise RunError.at(
            "location",
            f"“{location}” is not the base URL of a server. Enter one such as "
            "https://api.openai.com/v1 or http://localhost:11434/v1.",
        )
    if "@" in parts.netloc:
        # Not repeated in the message: what stands there may be a key.
        raise RunError.at(
            "location",
            "The base URL holds a user name or a key. Leave it out, and name the environment "
            "variable that holds the key.",
        )
    from probing.lm.public_addresses import find_public_address, is_listed

    if not is_listed(location, settings.MODEL_SERVER_HOSTS):
        _ask(lambda: find_public_address(location))
    return _tidy_address(location)


def _tidy_address(location: str) -> str:
    return location.strip().rstrip("/")


def _check_served(served_name: str) -> str:
    if not served_name:
        raise RunError.at(
            "served_name", "A model behind a server has a name there, such as gpt-4. Give it."
        )
    if len(served_name) > NAME_LENGTH:
        raise RunError.at(
            "served_name",
            f"The name on the server has {len(served_name)} characters, expected at most "
            f"{NAME_LENGTH}.",
        )
    return served_name


def _registered_at(place: ModelPlace) -> LanguageModel | None:
    return LanguageModel.objects.filter(
        source=place.source,
        location=place.location,
        revision=place.revision,
        served_name=place.served_name,
    ).first()


def _inspect(location: str, revision: str) -> ModelFacts:
    """Return what the configuration says; raises if the model could not be used."""
    from probing.lm import inspect_model, load_text_tokenizer
    from probing.lm.loaders import load_classifier_tokenizer, load_encoder_tokenizer

    facts = inspect_model(location, revision or None)
    load: Any = load_classifier_tokenizer if facts.labels else load_text_tokenizer
    if facts.kind == "encoder":
        load = load_encoder_tokenizer
    load(location, revision=revision or None)
    return facts


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
            "name", f"A model named “{name}” is already registered. Choose another name."
        )
    return name


def _derived_name(place: ModelPlace) -> str:
    """Return the hub id, the folder's name or the served name, made unique where it is taken."""
    base = place.served_name or place.location
    if place.source == ModelSource.PATH:
        base = Path(place.location).name.removesuffix(".gguf")
    base = f"{base} @ {place.revision}" if place.revision else base
    base = base[: NAME_LENGTH - 6]
    names = chain([base], (f"{base} ({number})" for number in count(2)))
    return next(name for name in names if not LanguageModel.objects.filter(name=name).exists())
