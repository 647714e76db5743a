"""A picture or sound that a study shows, kept as it was uploaded."""

from __future__ import annotations

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study


class StudyFile(models.Model):
    """Flows name a file by the digest of its content, so that a version's hash stands for it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="files")
    digest = models.CharField(max_length=64, help_text=_("SHA-256 of the content."))
    name = models.CharField(max_length=200, help_text=_("As it was called when it was uploaded."))
    media_type = models.CharField(max_length=20)
    ending = models.CharField(max_length=4)
    size = models.PositiveIntegerField(help_text=_("Bytes."))
    width = models.PositiveSmallIntegerField(null=True, help_text=_("Pixels, of a picture."))
    height = models.PositiveSmallIntegerField(null=True)
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "digest"], name="one_study_file_per_digest")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("survey:file", args=[self.study.public_id, self.digest, self.ending])

    @property
    def is_sound(self) -> bool:
        return self.media_type.startswith("audio/")
