"""Which column of a file holds what, kept under a name to be used again."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class ImportRecipe(models.Model):
    """A mapping of one kind of import; every researcher may use it."""

    kind = models.CharField(max_length=40, help_text=_("As commands call it."))
    name = models.CharField(max_length=60)
    columns = models.JSONField(default=dict, help_text=_("The file’s column by what it holds."))
    guesses = models.BooleanField(
        default=True, help_text=_("Whether other columns are taken by their names.")
    )
    has_heading = models.BooleanField(default=True)
    sheet = models.CharField(max_length=100, blank=True, help_text=_("Of a workbook."))

    class Meta:
        ordering = ["kind", "name"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "name"], name="one_import_recipe_per_name")
        ]

    def __str__(self) -> str:
        return self.name
