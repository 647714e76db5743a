"""Recipes: mappings of columns that were chosen once and are used again, by page, command, HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.imports.import_kind import (
    Imported,
    ImportKind,
    ImportPlan,
    ImportRequest,
    import_file,
)
from annotation.models import ImportRecipe


def list_recipes(kind: ImportKind) -> list[str]:
    """Return the names of a kind's recipes. One query."""
    return list(ImportRecipe.objects.filter(kind=kind.name).values_list("name", flat=True))


def use_recipe(kind: ImportKind, request: ImportRequest, name: str) -> ImportRequest:
    """Return a request with the columns of a recipe; those that it names itself come first.

    One query, none without a name. Raises `ValidationError` for a name that is not there.
    """
    if not name:
        return request
    recipe = ImportRecipe.objects.filter(kind=kind.name, name=name).first()
    if recipe is None:
        known = ", ".join(f"“{one}”" for one in list_recipes(kind)) or "none"
        raise ValidationError(
            {"recipe": f"There is no recipe “{name}” for this kind of file; there are {known}."}
        )
    said = request.columns
    kept = {what: column for what, column in recipe.columns.items() if column not in said.values()}
    return replace(
        request,
        columns={**kept, **said},
        guesses=recipe.guesses and request.guesses,
        has_heading=recipe.has_heading and request.has_heading,
        sheet=request.sheet or recipe.sheet,
    )


def save_recipe(kind: ImportKind, request: ImportRequest, name: str) -> None:
    """Keep the columns of a request under a name, in place of those under it before.

    Raises `ValidationError` if it says nothing of columns, or for a name that is too long.
    """
    if not name:
        return
    if not (request.columns or request.sheet):
        raise ValidationError(
            {"save_recipe": "There is nothing to save: say first which column holds what."}
        )
    recipe = ImportRecipe.objects.filter(kind=kind.name, name=name).first()
    recipe = recipe or ImportRecipe(kind=kind.name, name=name)
    recipe.columns, recipe.sheet = dict(request.columns), request.sheet
    recipe.guesses, recipe.has_heading = request.guesses, request.has_heading
    recipe.full_clean()
    recipe.save()


def import_and_save(
    kind: ImportKind, request: ImportRequest, name: str, **how: Any
) -> tuple[Imported, ImportPlan]:
    """Store a file and, under a name, its columns: both or neither. Raises as both do."""
    with transaction.atomic():
        save_recipe(kind, request, name)
        return import_file(kind, request, **how)
