"""Whom to ask, on pages that belong to no study."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def site_contact() -> str:
    """Return the address of the people who run this site, "" where none is set.

    A tag and no context: pages about an error are drawn without one.
    """
    address: str = settings.CONTACT_EMAIL
    return address


@register.simple_tag
def sign_in_provider() -> str:
    """Return what the provider of accounts is called, "" where there is none."""
    name: str = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
    return name
