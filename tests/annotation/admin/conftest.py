"""The actors of the researchers' pages: alice owns the study, charlie is an outsider."""

from __future__ import annotations

from tests.annotation.researcher.conftest import alice, bob, charlie, ed, study

__all__ = ["alice", "bob", "charlie", "ed", "study"]
