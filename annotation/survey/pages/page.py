"""What every page of the survey can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, ClassVar

from django.http import QueryDict

from annotation.models import Outcome
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.visit import Visit


class Again(Enum):
    """The page is stored and asked once more: the visit stays where it is."""

    AGAIN = "again"


class Page(ABC):
    """One kind of step: when it is asked, what it shows, what it stores."""

    template: ClassVar[str]

    def open(self, visit: Visit, step: Step) -> bool:
        """Return whether the page is shown. Called in the transaction that leads to the step, so
        that a page which cannot be asked may store why."""
        return True

    @abstractmethod
    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        """Return what the template needs; ``sent`` holds answers to keep, ``problems`` by field."""

    @abstractmethod
    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | Again | None:
        """Store the answers; an outcome ends the visit early, `Again` asks the page once more.

        Raises `AnswersRefused` for answers to mend and `PageRefused` for a page that the survey
        cannot have sent. Called in a transaction with the submission's row locked.
        """
