"""The content hash of an instrument: it stands for what participants saw."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from annotation.models import AgreementRule, Instrument, Skipping


def describe_instrument(instrument: Instrument) -> dict[str, Any]:
    """Return everything that a participant can see or that decides a check. Six queries."""
    described = {
        "version": instrument.version,
        "language": instrument.language,
        "flow": instrument.flow,
        "scale_order": instrument.scale_order,
        "pole_sides": instrument.pole_sides,
        "show_ticks": instrument.show_ticks,
        "high_from": instrument.high_from,
        "low_to": instrument.low_to,
        "agreement_within": instrument.agreement_within,
        "agreement_at_least": instrument.agreement_at_least,
        "groups": list(
            instrument.groups.values("slug", "singular", "plural", "plural_capitalised")
        ),
        "scales": list(instrument.scales.values("slug", "low", "high", "dimension")),
        "questions": list(
            instrument.questions.values(
                "slug", "kind", "label", "help_text", "options", "minimum", "maximum"
            )
        ),
        "wordings": list(instrument.wordings.values("language", "key", "text")),
    }
    # Named only where they are chosen, so that older instruments keep their hash.
    if texts := list(
        instrument.groups.filter(text__isnull=False).values("slug", "item", "variety", "body")
    ):
        described["texts"] = texts
    if instrument.arms:
        described["arms"] = instrument.arms
    if instrument.logo is not None:
        described["logo"] = {"file": instrument.logo.digest, "alt": instrument.logo_alt}
    if instrument.skipping != Skipping.NEVER:
        described["skipping"] = instrument.skipping
    if instrument.one_per_domain:
        described["one_per_domain"] = True
    if instrument.agreement_rule != AgreementRule.SAME_SIDE:
        described["agreement_rule"] = instrument.agreement_rule
    if instrument.agreement_rule == AgreementRule.KENDALL:
        described["agreement_tau"] = instrument.agreement_tau
    return described


def hash_instrument(instrument: Instrument) -> str:
    """Return the SHA-256 of the instrument's content as canonical JSON."""
    content = json.dumps(describe_instrument(instrument), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(content.encode()).hexdigest()
