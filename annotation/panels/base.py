"""What a panel is to the platform. One file for each panel; the registry lists them."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Protocol
from urllib.parse import quote, urlsplit

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.models import Outcome, Panel, PanelSettings, Study, Submission, SubmissionState
from annotation.panels.errors import ArrivalRefused, PanelSetupError

#: Wider than any panel’s ids, but a placeholder that the panel did not fill in does not pass.
PANEL_ID = re.compile(r"[A-Za-z0-9_-]{1,120}")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class PanelArrival:
    """The panel’s id of a person, and of their submission where it has one.

    ``signed_link`` is the SHA-256 of the signature with which the panel vouched for it, else "".
    """

    external_id: str
    session_id: str = ""
    signed_link: str = ""


@dataclass(frozen=True)
class CompletionPath:
    """``code`` tells the panel how the visit ended; ``return_url`` is "" where nothing leads back.

    ``panel`` is its name as participants know it, "" where the study knows none; ``is_own`` marks a
    code that belongs to this submission alone, ``tells_checks`` one that may say that a check was
    missed.
    """

    code: str
    return_url: str
    panel: str = ""
    is_own: bool = False
    tells_checks: bool = False


@dataclass(frozen=True)
class WayToReturn:
    """How somebody gives their place back at the panel: ``url`` leads to it, "" where nothing does.

    ``panel`` is its name as participants know it, "" where the study knows none.
    """

    url: str
    panel: str = ""


@dataclass(frozen=True)
class CompletionCode:
    """A code as the panel’s own study has to know it: its type, and what the panel does with it."""

    outcome: Outcome
    code: str
    kind: str
    action: str


@dataclass(frozen=True)
class PanelSubmission:
    """A submission as the panel lists it; amounts of bonuses in minor units."""

    reference: str
    status: str
    status_at: datetime | None = None
    return_requested: bool = False
    bonuses: tuple[int, ...] = ()


@dataclass(frozen=True)
class PanelStudy:
    """The panel’s own study: ``places`` in all, ``taken`` of them."""

    status: str
    places: int
    taken: int


@dataclass(frozen=True)
class PanelRules:
    """What a panel allows. ``categories`` maps grounds of rejection to the panel’s own words."""

    categories: Mapping[str, str] = field(default_factory=dict)
    least_message: int = 0
    largest_batch: int = 100


class PanelClient(Protocol):
    """A panel’s API. Every method raises `PanelError`, whose class says what may have happened.

    Methods that only read, and `increase_places`, try again by themselves; nothing else does.
    """

    def list_submissions(self) -> list[PanelSubmission]: ...

    def count_submissions(self) -> Mapping[str, int]: ...

    def approve(self, references: Sequence[str]) -> None: ...

    def reject(self, reference: str, *, category: str, message: str) -> None: ...

    def request_return(self, reference: str, *, reason: str) -> None: ...

    def pay_share(self, reference: str, *, code: str, percent: int, message: str) -> None: ...

    def prepare_bonuses(self, amounts: Mapping[str, int], *, currency: str) -> str: ...

    def pay_bonuses(self, batch_reference: str) -> None: ...

    def read_study(self) -> PanelStudy: ...

    def increase_places(self, total: int) -> None: ...

    def change_status(self, action: str) -> None: ...

    def close(self) -> None: ...


class PanelKind(ABC):
    """A panel. What is not overridden is what a plain link does: no ids, codes, no API."""

    name: ClassVar[Panel]
    #: The usual parameters of its links; "" where it sends none.
    person_parameter: ClassVar[str] = ""
    session_parameter: ClassVar[str] = ""
    link_token_parameter: ClassVar[str] = ""
    rules: ClassVar[PanelRules] = PanelRules()
    #: Its name as participants know it, and where they find and return their submissions there.
    known_as: ClassVar[str] = ""
    submissions_url: ClassVar[str] = ""
    #: Whether it can be asked over HTTP; otherwise payments go by file or by hand.
    has_api: ClassVar[bool] = False
    #: Whether its codes belong to one submission each and come back in the panel’s file.
    has_own_codes: ClassVar[bool] = False

    @property
    def title(self) -> str:
        return str(self.name.label)

    def person_name(self, settings: PanelSettings) -> str:
        return settings.person_parameter or self.person_parameter

    def session_name(self, settings: PanelSettings) -> str:
        return settings.session_parameter or self.session_parameter

    def read_arrival(self, sent: QueryDict, settings: PanelSettings) -> PanelArrival | None:
        """Return who comes by a link’s parameters; None where the panel sends nobody’s id.

        Raises `ArrivalRefused`.
        """
        name = self.person_name(settings)
        if not name:
            return None
        return read_ids(sent, person=name, session=self.session_name(settings), panel=self.title)

    def arrival_fields(self, arrival: PanelArrival, settings: PanelSettings) -> dict[str, str]:
        """Return the form fields from which `read_arrival` reads the same again."""
        fields = {self.person_name(settings): arrival.external_id}
        if session := self.session_name(settings):
            fields[session] = arrival.session_id
        return fields

    def link_query(self, settings: PanelSettings) -> str:
        """Return what goes behind the study’s link at the panel, with its placeholders."""
        return ""

    def complete(
        self,
        study: Study,
        settings: PanelSettings,
        outcome: str,
        submission: Submission | None,
    ) -> CompletionPath | None:
        """Return how a visit ends at the panel; None where the study has no code for it."""
        code = study.completion_codes.get(outcome, "")
        return CompletionPath(code, "") if code else None

    def give_back(
        self, study: Study, settings: PanelSettings, submission: Submission
    ) -> WayToReturn | None:
        """Return how a person who stopped returns their submission; None where nothing leads there.

        Who withdrew takes the code for “no consent” along, which asks the panel for the return.
        """
        url = self.submissions_url
        if submission.state == SubmissionState.WITHDRAWN:
            path = self.complete(study, settings, Outcome.NO_CONSENT, submission)
            url = (path.return_url if path is not None else "") or url
        return WayToReturn(url, self.known_as) if url else None

    def connect(
        self, study: Study, settings: PanelSettings, *, patient: bool = True
    ) -> PanelClient:
        """Return the client of a study. Raises `PanelSetupError` where settings lack something.

        A patient client waits and tries again, as workers do; a person in front of a page does not.
        """
        raise PanelSetupError(_("This panel has no API: payments go by its own pages."))

    def describe_codes(self, study: Study, settings: PanelSettings) -> list[CompletionCode]:
        """Return the codes that the panel’s own study has to know; empty where it knows none."""
        return []


def read_ids(sent: QueryDict, *, person: str, session: str, panel: str) -> PanelArrival:
    """Read and check the ids of a link. A parameter that is sent twice counts as not sent."""
    external, visit = read_parameter(sent, person), read_parameter(sent, session)
    return check_ids(external, visit, panel=panel)


def check_ids(external: str, visit: str, *, panel: str) -> PanelArrival:
    if not PANEL_ID.fullmatch(external):
        raise ArrivalRefused(
            _("It carries no %(panel)s id. Open the study from its page on %(panel)s.")
            % {"panel": panel}
        )
    if visit and not PANEL_ID.fullmatch(visit):
        raise ArrivalRefused(
            _("Its session id is not one of %(panel)s’s. Open the study from its page there.")
            % {"panel": panel}
        )
    return PanelArrival(external, visit)


def read_parameter(sent: QueryDict, name: str) -> str:
    values = sent.getlist(name) if name else []
    return values[0].strip() if len(values) == 1 else ""


def fill_address(template: str, *, code: str, external_id: str) -> str:
    """Return a return address with ``{code}`` and ``{id}`` filled in, safe within a URL."""
    return template.replace("{code}", quote(code, safe="")).replace(
        "{id}", quote(external_id, safe="")
    )


def find_address_problem(template: str) -> str:
    """Return what is wrong with a return address, "" if nothing is."""
    unknown = set(PLACEHOLDER.findall(template)) - {"code", "id"}
    if unknown:
        return _("“{%(name)s}” is unknown, expected {code} or {id}.") % {
            "name": sorted(unknown)[0][:40]
        }
    try:
        parts = urlsplit(template)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in {"https", "http"} or not host or "{" in host or "}" in host:
        return _("“%(value)s” is no address, expected one such as https://panel.example/end.") % {
            "value": template[:80]
        }
    return ""
