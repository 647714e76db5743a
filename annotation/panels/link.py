"""Any link: an e-mail, a class, or a panel that needs no more than parameters and addresses."""

from __future__ import annotations

from urllib.parse import urlencode

from annotation.models import Panel, PanelSettings, Study, Submission
from annotation.panels.base import CompletionPath, PanelKind, fill_address


class LinkPanel(PanelKind):
    """Without a parameter for the person, the browser keeps an opaque id of its own."""

    name = Panel.LINK

    def link_query(self, settings: PanelSettings) -> str:
        names = [name for name in (self.person_name(settings), self.session_name(settings)) if name]
        return f"?{urlencode(dict.fromkeys(names, '…'), safe='…')}" if names else ""

    def complete(
        self, study: Study, settings: PanelSettings, outcome: str, submission: Submission | None
    ) -> CompletionPath | None:
        code = study.completion_codes.get(outcome, "")
        template = settings.return_urls.get(outcome, "")
        if not template:
            return CompletionPath(code, "") if code else None
        external_id = find_external_id(submission) if "{id}" in template else ""
        if external_id is None:  # nobody has started: there is nobody to send back
            return CompletionPath(code, "") if code else None
        return CompletionPath(code, fill_address(template, code=code, external_id=external_id))


def find_external_id(submission: Submission | None) -> str | None:
    """Return the panel’s id of a submission’s person. One query."""
    if submission is None:
        return None
    identities = submission.participant.identities.filter(study=submission.study_id)
    return identities.values_list("external_id", flat=True).first()
