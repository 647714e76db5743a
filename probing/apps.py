"""Language models, measures and runs."""

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate


class ProbingConfig(AppConfig):
    name = "probing"
    verbose_name = "Models"

    def ready(self) -> None:
        from annotation.library.uses import register_uses
        from probing.library.default_entries import seed_after_migrate
        from probing.models import LanguageModel, Run
        from probing.runs.library_uses import find_run_uses
        from probing.runs.trained_models import remove_model_folder, remove_run_folders

        post_migrate.connect(seed_after_migrate, sender=self)
        post_delete.connect(remove_run_folders, sender=Run)
        post_delete.connect(remove_model_folder, sender=LanguageModel)
        register_uses(find_run_uses)
