"""A group's surface forms: proposed from its singular, and checked for article, number, capitals.

Each form stands in its own place: “That elderly person is …”, “All elderly people are …”, “Elderly
people should be …”, and the modifier before another group, “elderly teenager”.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from annotation.library.articles import wrong_articles
from annotation.library.capitals import capitalize, lower_case_names, needless_capital
from annotation.library.findings import Finding, firm
from annotation.library.plurals import is_plural, propose_plural, same_noun, split_head

#: Form → its name in messages, and a sentence around it.
FORMS = {
    "singular": ("singular", "That {} is …"),
    "plural": ("plural", "All {} are …"),
    "plural_capitalised": ("capitalised plural", "{} should be …"),
    "modifier": ("modifier", "That {} person is …"),
}
#: Nouns after which the words before them are a modifier: “Asian person” gives “Asian”.
PLAIN_NOUNS = ("person", "people")


@dataclass(frozen=True)
class Forms:
    """The surface forms of a group; `modifier` is empty where the group never comes first."""

    singular: str
    plural: str
    plural_capitalised: str
    modifier: str = ""


def propose_forms(singular: str) -> Forms:
    """Return likely forms for a group of that singular; a person looks at them."""
    plain = " ".join(singular.split())
    plural = propose_plural(plain)
    before, noun, after = split_head(plain)
    adjectival = noun in PLAIN_NOUNS and before and not after
    return Forms(plain, plural, capitalize(plural), before.strip() if adjectival else "")


def check_forms(forms: Forms) -> list[Finding]:
    """Return what reads wrong in the forms, certain findings first."""
    found = [*_missing(forms), *_spaces(forms)]
    if found:
        return found
    found = [*_number(forms), *_capitals(forms), *_articles(forms)]
    return sorted(found, key=lambda finding: not finding.certain)


def show(name: str, form: str) -> str:
    """Return a form in a sentence that needs it."""
    return FORMS[name][1].format(form)


def _missing(forms: Forms) -> Iterator[Finding]:
    for name in ("singular", "plural", "plural_capitalised"):
        if name == "plural_capitalised" and not forms.plural.strip():
            continue  # it follows from the plural
        if not getattr(forms, name).strip():
            label, sentence = FORMS[name]
            expected = _expected(name, forms)
            hint = f", such as “{expected}”" if expected else f" for “{sentence.format('_')}”"
            yield firm(f"The {label} is missing, expected one{hint}.", name)


def _expected(name: str, forms: Forms) -> str:
    if not forms.singular.strip():
        return ""
    return str(getattr(propose_forms(forms.singular), name)) if name != "singular" else ""


def _spaces(forms: Forms) -> Iterator[Finding]:
    for name, (label, _sentence) in FORMS.items():
        form = getattr(forms, name)
        if form != " ".join(form.split()):
            yield firm(
                f"The {label} “{form}” has spaces at an end, or two in a row. Take them out.", name
            )
        if set(form) & set("{}[]<>") or not form.isprintable():
            yield firm(f"The {label} “{form}” holds a bracket or a sign, expected words.", name)


def _number(forms: Forms) -> Iterator[Finding]:
    if is_plural(forms.singular):
        yield Finding(
            True,
            f"“{forms.singular}” is a plural, expected a singular.",
            "singular",
            show("singular", forms.singular),
        )
        return
    if is_plural(forms.plural) is False:
        yield Finding(
            True,
            f"“{forms.plural}” is a singular, expected a plural, such as "
            f"“{propose_plural(forms.singular)}”.",
            "plural",
            show("plural", forms.plural),
        )
    elif not same_noun(forms.singular, forms.plural):
        same = forms.plural == forms.singular
        yield Finding(
            False,
            f"The plural is the same as the singular, “{forms.plural}”."
            if same
            else f"“{forms.plural}” may not be the plural of “{forms.singular}”; the usual one is "
            f"“{propose_plural(forms.singular)}”.",
            "plural",
            show("plural", forms.plural),
        )


def _capitals(forms: Forms) -> Iterator[Finding]:
    expected = capitalize(forms.plural)
    first = forms.plural.split(" ")[0]
    inner = first[:1].islower() and first != first.lower()  # a name such as iPhone
    if forms.plural_capitalised != expected and not (
        inner and forms.plural_capitalised == forms.plural
    ):
        yield Finding(
            True,
            f"The capitalised plural is “{forms.plural_capitalised}”, expected the plural with a "
            f"capital first letter, “{expected}”.",
            "plural_capitalised",
            show("plural_capitalised", forms.plural_capitalised),
        )
    for name in ("singular", "plural", "modifier"):
        form = getattr(forms, name)
        for word, certain in lower_case_names(form):
            yield Finding(
                certain,
                f"“{word}” is written with a capital, “{capitalize(word)}”."
                if certain
                else f"“{word}” is written with a capital as a name, “{capitalize(word)}”.",
                name,
                show(name, form),
            )
        if word := needless_capital(form):
            yield Finding(
                False,
                f"“{word}” begins with a capital within the sentence; that is right for names "
                "alone.",
                name,
                show(name, form),
            )


def _articles(forms: Forms) -> Iterator[Finding]:
    for name in ("singular", "plural", "modifier"):
        form = getattr(forms, name)
        for written, article in wrong_articles(f"– {form}"):
            word = written.split(" ", 1)[1]
            yield Finding(
                True, f"“{written}” has the wrong article, expected “{article} {word}”.", name
            )
        first = form.split(" ")[0].lower() if form else ""
        if first in ("a", "an", "the") and " " in form:
            yield Finding(
                name != "plural" or first != "the",
                f"“{form}” begins with an article, expected the words behind it alone: templates "
                "bring their own.",
                name,
                show(name, form),
            )
