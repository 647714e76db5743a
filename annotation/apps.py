"""People: studies, instruments, submissions, ratings."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "People"

    def ready(self) -> None:
        from annotation.audit.signals import connect
        from annotation.instruments.questions import ready_made
        from annotation.library import default_entries

        post_migrate.connect(default_entries.seed_after_migrate, sender=self)
        post_migrate.connect(ready_made.seed_after_migrate, sender=self)
        connect()
