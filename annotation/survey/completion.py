"""How a visit ends on the panel's side: the code for its outcome and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from annotation.models import Outcome, Panel, Study

PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete"


@dataclass(frozen=True)
class CompletionPath:
    """``code`` tells the panel how the visit ended; ``return_url`` is "" for a plain link."""

    code: str
    return_url: str


def find_completion_path(study: Study, outcome: Outcome | str) -> CompletionPath | None:
    """Return the path for an outcome, None where the study has no code for it."""
    code = study.completion_codes.get(str(outcome), "")
    if not code:
        return None
    is_prolific = study.panel == Panel.PROLIFIC
    url = f"{PROLIFIC_COMPLETE}?{urlencode({'cc': code})}" if is_prolific else ""
    return CompletionPath(code=code, return_url=url)
