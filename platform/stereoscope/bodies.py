"""How much a request may carry: a form for everyone, a file for those who are signed in."""

from __future__ import annotations

#: The largest body of somebody without an account: far more than any page of a survey sends.
FORM_BYTES = 1_000_000
#: The largest body of all: a corpus or a table of predictions.
FILE_BYTES = 1_000_000_000
#: Where files and documents are sent, by people with an account and by programs with a token.
FILE_PREFIXES = ("/admin/", "/api/")
