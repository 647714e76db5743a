"""Templates and their sentences, checked for article, number and capitals; English only.

A template is checked on its own as far as its words decide (“All {singular} are …” is wrong with
any group) and with a group where the group decides (“A elderly person is …”). What a template of
another language says may look wrong here: every check can be told to take the words as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from annotation.library.english_forms import Finding, capitalize, lower_case_names, wrong_articles
from probing.measures.base import Problem
from probing.measures.templates import GroupForm, ParsedTemplate, parse_template

#: Stands for the adjective where a sentence is shown.
BLANK = "___"
#: A group that no check trips over, to show a template's own faults.
SAMPLE = {"singular": "nurse", "plural": "nurses", "Plural": "Nurses"}
#: How messages call a form.
FORM_NAMES: dict[GroupForm, str] = {
    "singular": "singular",
    "plural": "plural",
    "Plural": "capitalized plural",
}

# Words right before the group that ask for one number.
SINGULAR_WORDS = frozenset({"a", "an", "each", "every", "that", "this", "another", "one"})
PLURAL_WORDS = frozenset(
    {
        "these",
        "those",
        "many",
        "few",
        "both",
        "several",
        "all",
        "most",
        "various",
        "numerous",
        "two",
    }
)
# Verbs right behind the group, or right before it in a question.
SINGULAR_VERBS = frozenset({"is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't"})
PLURAL_VERBS = frozenset({"are", "were", "have", "do", "aren't", "weren't", "haven't", "don't"})
# After these the group is the subject beyond doubt; after “of” or “helping” it may not be.
SUBJECT_OPENERS = SINGULAR_WORDS | PLURAL_WORDS | {"the", "some", "that", "why", "because", "if"}

_LAST_WORD = re.compile(r"([\w'’]+)[^\w]*$")
_FIRST_WORD = re.compile(r"^[^\w]*([\w'’]+)")
_NEW_SENTENCE = re.compile(r"[.?!:…][\"”’)]*\s+[\"“‘(]*$|[\"“‘]$")


#: Whether a fault is certain, and what it is.
Remark = tuple[bool, str]


class HasForms(Protocol):
    """A group as the checks read it."""

    @property
    def slug(self) -> str: ...
    @property
    def singular(self) -> str: ...
    @property
    def plural(self) -> str: ...
    @property
    def plural_capitalised(self) -> str: ...


class HasText(Protocol):
    """A template as the checks read it."""

    @property
    def slug(self) -> str: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True)
class Sentence:
    """One template with one group: its words, cut at the adjective, and what reads wrong.

    of_template, of_group : what reads wrong with whatever group, and what with this very one
    """

    template: str
    group: str
    before: str
    after: str
    of_template: tuple[Finding, ...]
    of_group: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that reads wrong in the sentence."""
        return self.of_template + self.of_group

    @property
    def text(self) -> str:
        return f"{self.before}{BLANK}{self.after}"


def form_of(group: HasForms, form: GroupForm) -> str:
    """Return the surface form that a slot asks for."""
    return {"singular": group.singular, "plural": group.plural, "Plural": group.plural_capitalised}[
        form
    ]


def missing_forms(groups: Iterable[HasForms], templates: Iterable[HasText]) -> list[Problem]:
    """Return a fatal problem for each surface form that a group lacks and a template needs."""
    needing: dict[GroupForm, list[str]] = {}
    for template in templates:
        needing.setdefault(parse_template(template.text).form, []).append(template.text)
    return [
        Problem(
            "groups",
            f"The group “{group.slug}” has no {FORM_NAMES[form]}, which the template “{texts[0]}” "
            f"{f'and {len(texts) - 1} more need' if len(texts) > 1 else 'needs'}. Give it one in "
            "the library, or leave out one of them.",
            True,
        )
        for group in groups
        for form, texts in needing.items()
        if not form_of(group, form).strip()
    ]


def article_problems(groups: Iterable[HasForms], templates: Iterable[HasText]) -> list[Problem]:
    """Return a remark for each template whose article does not fit some of the groups."""
    chosen = list(groups)
    found = []
    for template in templates:
        parsed = parse_template(template.text)
        if not _article_before_group(parsed):
            continue
        wrong = [group for group in chosen if _group_findings(parsed, group)]
        if wrong:
            first = parsed.around_trait(form_of(wrong[0], parsed.form))
            message = (
                f"The article does not fit {len(wrong)} of the {len(chosen)} groups: models read "
                f"“{f'{first[0]}{BLANK}{first[1]}'}” as it stands."
            )
            found.append(Problem(f"template {template.slug}", message, False))
    return found


def render(template: HasText, group: HasForms, adjectives: Sequence[str] = ()) -> Sentence:
    """Return the sentence of a template and a group, with everything that reads wrong in it.

    adjectives : checked against an article that stands right before their slot.
    """
    parsed = parse_template(template.text)
    before, after = parsed.around_trait(form_of(group, parsed.form))
    return Sentence(
        template.slug,
        group.slug,
        before,
        after,
        tuple(check_template(template.text, adjectives)),
        tuple(_group_findings(parsed, group)),
    )


def check_template(text: str, adjectives: Sequence[str] = ()) -> list[Finding]:
    """Return what reads wrong in a template with whatever group, certain findings first.

    Raises `TemplateError` for a text that is no template.
    """
    parsed = parse_template(text)
    before, after = _around_group(parsed)
    sample = f"{before}{SAMPLE[parsed.form]}{after}"

    def shown(remarks: Iterable[Remark]) -> list[Finding]:
        return [Finding(certain, message, "text", sample) for certain, message in remarks]

    found = [
        *shown(_number(parsed)),
        *shown(_capitals(parsed)),
        *_adjective_articles(parsed, adjectives),
        *shown(_own_words(parsed)),
    ]
    return sorted(found, key=lambda finding: not finding.certain)


def _around_group(parsed: ParsedTemplate) -> tuple[str, str]:
    """Return the template's text before and after the group, with a blank for the adjective."""
    if parsed.group_first:
        return parsed.opening, f"{parsed.middle}{BLANK}{parsed.closing}"
    return f"{parsed.opening}{BLANK}{parsed.middle}", parsed.closing


def _number(parsed: ParsedTemplate) -> Iterator[Remark]:
    before, after = _around_group(parsed)
    last, following = _word(_LAST_WORD, before), _word(_FIRST_WORD, after)
    slot = f"{{{parsed.form}}}"
    is_plural = parsed.form != "singular"
    if last in (SINGULAR_WORDS - {"that"} if is_plural else PLURAL_WORDS):
        wanted = "{singular}" if is_plural else "{plural}"
        yield True, f"“{last}” does not go with {slot}, expected {wanted}."
        return
    if last == "that" and is_plural and before.strip().lower() == "that":
        yield False, f"“That” may not go with {slot}, better {{singular}}."
        return
    verbs = SINGULAR_VERBS if is_plural else PLURAL_VERBS
    if following in verbs:
        sure = not before.strip() or last in SUBJECT_OPENERS or last in PLURAL_VERBS
        yield sure, _disagreement(following, is_plural)
    elif last in verbs and not (is_plural and not _opens_question(before, last)):
        yield not is_plural, _disagreement(last, is_plural)


def _disagreement(verb: str, is_plural: bool) -> str:
    slot = "a plural group" if is_plural else "a single group"
    return f"“{verb}” does not agree with {slot}."


def _opens_question(before: str, verb: str) -> bool:
    """Return whether the verb asks, as in “Why is {plural} …?”: the group is its subject then."""
    words = before.lower().split()
    return words[-1:] == [verb] and (
        len(words) == 1 or words[-2] in ("why", "how", "when", "where")
    )


def _capitals(parsed: ParsedTemplate) -> Iterator[Remark]:
    before, _after = _around_group(parsed)
    starts = not before.strip(" \"“‘'(¿¡") or bool(_NEW_SENTENCE.search(before))
    if parsed.form == "Plural" and not starts:
        yield True, "{Plural} is within the sentence, expected {plural}, without a capital."
    if parsed.form == "plural" and starts and not _may_go_on(before):
        yield True, "{plural} begins the sentence, expected {Plural}, with a capital."
    if parsed.form == "singular" and starts and not _may_go_on(before):
        yield (
            True,
            "{singular} begins the sentence, expected a word such as “The” or “That” before it.",
        )
    first = parsed.opening.lstrip(" \"“‘'(¿¡")
    if first and first[0].islower():
        yield True, f"The sentence begins with “{first.split()[0]}”, expected a capital letter."
    if not re.search(r"[.?!…][\"”’')]*$", parsed.closing if parsed.closing else BLANK):
        yield False, "The sentence has no full stop or question mark at its end."
    if parsed.opens_with_trait:
        yield False, "The adjective begins the sentence, and adjectives come without a capital."


def _may_go_on(before: str) -> bool:
    """Return whether a small letter may follow: after a colon or an opening quotation mark."""
    return bool(re.search(r":\s*[\"“‘(]*$|\S.*[\"“‘]$", before))


def _own_words(parsed: ParsedTemplate) -> Iterator[Remark]:
    """Check the articles and names that the template itself writes out."""
    before, after = _around_group(parsed)
    whole = f"{before}{BLANK}{after}"
    for written, article in wrong_articles(whole):
        word = written.split(" ", 1)[1]
        yield True, f"“{written}” has the wrong article, expected “{article} {word}”."
    for word, _certain in lower_case_names(whole):
        yield False, f"“{word}” is written with a capital as a name, “{capitalize(word)}”."


def _adjective_articles(parsed: ParsedTemplate, adjectives: Sequence[str]) -> Iterator[Finding]:
    before, after = parsed.around_trait(SAMPLE[parsed.form])
    if _word(_LAST_WORD, before) not in ("a", "an"):
        return
    wrong = [
        word
        for word in dict.fromkeys(adjectives)
        if any(written.endswith(f" {word}") for written, _ in wrong_articles(f"{before}{word}"))
    ]
    if wrong:
        listed = ", ".join(f"“{word}”" for word in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        article = before.split()[-1]
        yield Finding(
            False,
            f"“{article}” does not fit {listed}{more}. Better leave out the article before "
            "{trait}.",
            "text",
            f"{before}{wrong[0]}{after}",
        )


def _article_before_group(parsed: ParsedTemplate) -> bool:
    return _word(_LAST_WORD, _around_group(parsed)[0]) in ("a", "an")


def _group_findings(parsed: ParsedTemplate, group: HasForms) -> Iterable[Finding]:
    """Return what reads wrong because of this very group: the article right before it."""
    if not _article_before_group(parsed):
        return ()
    before, _after = _around_group(parsed)
    form = form_of(group, parsed.form)
    article = before.split()[-1]
    found = [
        (written, expected)
        for written, expected in wrong_articles(f"{before}{form}")
        if written == f"{article} {form.split(' ')[0].strip('.,')}"
    ]
    return tuple(
        Finding(
            True,
            f"“{written}” has the wrong article, expected “{expected} {written.split(' ', 1)[1]}”.",
        )
        for written, expected in found[-1:]
    )


def _word(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1).lower().replace("’", "'") if found else ""
