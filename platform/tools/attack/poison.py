"""Text that hurts: what is typed into forms, and what is stored in every text of the database."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import IntegrityError, models, transaction

#: A formula, an element, quotes, a template, letters that turn around or cannot be seen.
STORED = "=<zqv'\">{{7*7777}}\u202e\u200b"
#: Where braces mean something, they are refused at the door.
WITHOUT_BRACES = STORED.replace("{{7*7777}}", "")
OF_BRACES = frozenset({"text", "wording", "templates", "guidelines", "flow"})
RAW, COMPUTED = b"<zqv", b"54439"

#: What forms are sent, by kind; bytes are sent as they are.
TYPED: dict[str, str | bytes] = {
    "script": "<zqv onload=alert(1)>'\"></textarea><script>alert(1)</script>",
    "template": "{{7*7777}}{% debug %}${7*7777}<zqv>",
    "sql": "1' OR '1'='1'; DROP TABLE annotation_study; --",
    "formula": '=HYPERLINK("http://evil.example","<zqv>")',
    "header lines": "a\r\nSet-Cookie: zqv=1\r\n\r\n<zqv>",
    "hidden letters": "\u202e\u2066\u200b\ufeff𝒳<zqv>",
    "null character": "a\0b<zqv>",
    "half a pair": b"%ED%A0%80<zqv>",
    "no UTF-8": b"%FF%FE%C0%AF",
    "path": "../../../../etc/passwd",
    "very long": "x" * 20_000,
    "number": "9" * 400,
    "no number": "NaN",
}

ROOMS = ("annotation", "probing", "evaluation", "stereoscope")
#: Written by the platform, never by a person: kinds, hashes, versions, names that code looks up.
OF_CODE = frozenset({
    *("measure", "code_version", "stimuli_hash", "content_hash", "body_hash", "device", "worker"),
    *("language", "key", "digest", "media_type", "step_kind", "invitation_token", "pseudonym"),
    *("holder_key", "run", "producer", "error_category", "currency", "variety", "source_variety"),
    *("target_variety", "kind", "claim", "model_revision", "location", "name_of_file", "issuer"),
})  # fmt: skip
#: … and whole tables of it.
TABLES_OF_CODE = frozenset(
    {"Score", "TextScore", "Shard", "Report", "ReportFile", "WorkerPresence"}
)
#: JSON that is a table of names throughout; of all other JSON, texts with a blank are free.
JSON_OF_CODE = frozenset({"parameters", "library_versions", "scopes", "completion_codes", "values"})


def store_everywhere() -> int:
    """Put `STORED` before every text that a person can write; return how many texts that were."""
    return sum(
        _store(model, fields)
        for label in ROOMS
        for model in apps.get_app_config(label).get_models()
        if not model._meta.proxy and model.__name__ not in TABLES_OF_CODE
        if (fields := [field for field in model._meta.concrete_fields if _is_free(field)])
    )


def _is_free(field: models.Field[Any, Any]) -> bool:
    if field.name in OF_CODE or field.choices:
        return False
    if isinstance(field, models.JSONField):
        return field.name not in JSON_OF_CODE
    if isinstance(field, models.SlugField | models.EmailField):
        return False
    is_text = isinstance(field, models.CharField | models.TextField)
    return is_text and field.editable and (field.max_length or 1000) >= 2 * len(STORED)


def _store(model: type[models.Model], fields: list[models.Field[Any, Any]]) -> int:
    """Poison each row; texts that have to stay empty do, where a constraint says so."""
    count = 0
    for row in model._default_manager.all() if model.__name__ != "AuditEntry" else ():
        values = {field.attname: getattr(row, field.attname) for field in fields}
        changed = {field.attname: _poison(values[field.attname], field) for field in fields}
        changed = {name: value for name, value in changed.items() if value != values[name]}
        filled = {name: value for name, value in changed.items() if values[name]}
        for chosen in (changed, filled):
            try:
                with transaction.atomic():
                    if chosen:
                        models.QuerySet(model).filter(pk=row.pk).update(**chosen)
            except IntegrityError:
                continue
            count += len(chosen)
            break
    return count


def _poison(value: Any, field: models.Field[Any, Any]) -> Any:
    if isinstance(field, models.JSONField):
        return _poison_json(value, _choose(field))
    if not value and (field.unique or not field.blank):
        return value
    return f"{_choose(field)}{value}"[: field.max_length or 10_000]


def _choose(field: models.Field[Any, Any]) -> str:
    return WITHOUT_BRACES if field.name in OF_BRACES else STORED


def _poison_json(value: Any, poison: str) -> Any:
    if isinstance(value, dict):
        return {name: _poison_json(part, poison) for name, part in value.items()}
    if isinstance(value, list):
        return [_poison_json(part, poison) for part in value]
    return poison + value if isinstance(value, str) and " " in value else value
