"""Whether a study is ready to be launched: what is missing and where, and what to think over."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.common.language_codes import own_name
from annotation.instruments.arms import find_arm_faults, read_arms
from annotation.instruments.checks import CHECK_RULES
from annotation.instruments.conditions import OneOf, iterate_comparisons
from annotation.instruments.default_wording import default_wording
from annotation.instruments.domains import choose_disjoint
from annotation.instruments.files import list_files
from annotation.instruments.flow import Step, read_flow
from annotation.instruments.languages.texts import InstrumentText, find_missing, list_texts
from annotation.instruments.text_labels import name_texts
from annotation.models import Instrument, Outcome, Panel, QuestionKind, ScreenOutPay, Study
from annotation.panels.study_settings import load_panel_settings
from annotation.steps.checks import GroupName
from annotation.steps.consent import Consent
from annotation.steps.demographics import Demographics
from annotation.steps.kind import KINDS, Extent, iterate_texts
from annotation.steps.rating import RatingStep
from annotation.steps.texts import text_in
from annotation.studies.target_quotas import (
    describe_closed_cells,
    find_margin_faults,
    find_screening_faults,
)

# Told times are wrong by more than this much where a page by page estimate differs so far.
SHORTEST_SHARE, LONGEST_SHARE = 0.5, 3.0
MOST_KEYS = 12
PROMISE = "Your payment does not depend on them."
#: What ready-made questions of the library say in place of a group, for researchers to replace.
BLANKS = ("[group]", "[grupo]")
LISTED_TEXT = re.compile(r"(\w+) (\d+) text")
OF_PAYMENT = r"(^|[^a-z])(pay|paid|payments?)([^a-z]|$)"
#: A sentence with all three promises pay to all, in English or Spanish.
PAY_FOR_ALL = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"\b(everyone|everybody|all (people|participants)|tod[ao]s|quienes)\b",
        r"\b(finish|complete|termin)",
        r"\b(pay|paid|pag[oau])",
    )
)


class Place(StrEnum):
    """Where something is mended."""

    FLOW = "flow"
    TEXTS = "texts"
    GROUPS = "groups"
    SCALES = "scales"
    QUESTIONS = "questions"
    LANGUAGES = "languages"
    ARMS = "arms"
    MARGINS = "margins"
    SETTINGS = "settings"


@dataclass(frozen=True)
class Finding:
    """One thing to mend, or to think over if ``blocks`` is False.

    ``step`` is the index of a step of the flow, ``field`` the name of a setting or of a step's
    field.
    """

    text: str
    place: Place
    blocks: bool = True
    step: int | None = None
    field: str = ""


def examine_study(study: Study, instrument: Instrument) -> list[Finding]:
    """Return what is missing in a study with this version, and what is worth a thought.

    Some ten queries, whatever the size of the study.
    """
    steps, problems = read_flow(instrument.flow)
    findings = examine_flow(instrument, instrument.flow)
    if not problems:
        findings += (
            _examine_guises(instrument, steps)
            if study.rates_texts
            else _examine_groups(instrument, steps)
        )
    if not instrument.scales.exists():
        findings.append(
            Finding(_("The instrument has no trait scale, expected at least one."), Place.SCALES)
        )
    findings += _examine_questions(instrument, steps)
    findings += _examine_texts(instrument)
    findings += _examine_settings(study, steps)
    findings += _examine_pay(study, instrument)
    findings += _examine_margins(study, instrument, steps)
    if not any(finding.blocks for finding in findings):
        findings += _examine_promises(instrument, steps)
        findings += _examine_time(study, instrument, steps)
    return findings


def examine_flow(instrument: Instrument, flow: object) -> list[Finding]:
    """Return what is wrong with a flow and missing in it, be it stored or not. Two queries."""
    steps, problems = read_flow(flow)
    return [
        *(
            Finding(found.text, Place.FLOW, step=found.index, field=found.field)
            for found in problems
        ),
        *_examine_kind(instrument.study, steps),
        *_examine_conditions(instrument, steps),
        *_examine_arms(instrument, steps),
        *_examine_media(instrument.study, steps),
        *_examine_step_texts(languages := list_languages(instrument), steps),
        *_examine_equal_answers(languages, steps),
    ]


def list_languages(instrument: Instrument) -> list[str]:
    """Return the languages of an instrument, its main one first. One query."""
    others = set(instrument.wordings.values_list("language", flat=True)) - {instrument.language}
    return [instrument.language, *sorted(others)]


def _examine_groups(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    groups = list(instrument.groups.all())
    wanted = sum(step.kind == RatingStep.name for step in steps)
    if len(groups) < wanted:
        yield Finding(
            _(
                "The instrument has %(n)d groups, expected at least %(wanted)d, one for each "
                "rating page of the flow."
            )
            % {"n": len(groups), "wanted": wanted},
            Place.GROUPS,
        )
    elif instrument.one_per_domain:
        fitting = choose_disjoint(groups, wanted=wanted, domains_of=lambda group: group.domains)
        if len(fitting) < wanted:
            yield Finding(
                _(
                    "Only %(n)d of the instrument's groups share no domain with one another, "
                    "expected at least %(wanted)d, one for each rating page of the flow, since "
                    "nobody rates two groups of a domain."
                )
                % {"n": len(fitting), "wanted": wanted},
                Place.GROUPS,
            )


def _examine_guises(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    texts = list(instrument.groups.values_list("item", "variety"))
    items, varieties = Counter(item for item, _variety in texts), {variety for _, variety in texts}
    wanted = sum(step.kind == RatingStep.name for step in steps)
    if len(items) < wanted:
        yield Finding(
            _(
                "The instrument has texts of %(n)d pairs, expected at least %(wanted)d, one for "
                "each rating page of the flow, since nobody reads two guises of a pair."
            )
            % {"n": len(items), "wanted": wanted},
            Place.GROUPS,
        )
    if len(varieties) < 2:
        yield Finding(
            _("The texts are of %(n)d variety, expected at least 2.") % {"n": len(varieties)},
            Place.GROUPS,
        )
    if lone := sorted(item for item, n in items.items() if n < 2):
        yield Finding(
            _("These pairs have one text left, expected two guises of each: %(items)s.")
            % {"items": _join_keys(lone)},
            Place.GROUPS,
        )


def _examine_kind(study: Study, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield steps that ask for a group where texts are rated."""
    for step in steps:
        if study.rates_texts and step.kind == GroupName.name:
            yield Finding(
                _(
                    "Step %(n)d asks for the group just rated, but this study rates texts: take it "
                    "out, or ask for words that were marked."
                )
                % {"n": step.index + 1},
                Place.FLOW,
                step=step.index,
                field="kind",
            )


def _examine_conditions(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield conditions on demographic questions that the instrument does not ask so."""
    questions = {question.slug: question for question in instrument.questions.all()}
    for step in steps:
        for comparison in iterate_comparisons(step.show_if) if step.show_if else ():
            if comparison.source != "question":
                continue
            question = questions.get(comparison.name)
            if question is None:
                text = _(
                    "Step %(n)d depends on the question “%(name)s”, which is not among the "
                    "demographic questions."
                ) % {"n": step.index + 1, "name": comparison.name}
                yield Finding(text, Place.FLOW, step=step.index, field="show_if")
                continue
            values = comparison.values if isinstance(comparison, OneOf) else ()
            for value in values:
                if question.options and value not in question.options:
                    text = _(
                        "Step %(n)d depends on the answer “%(value)s”, which is not among those to "
                        "“%(question)s”."
                    ) % {"n": step.index + 1, "value": value, "question": question.label}
                    yield Finding(text, Place.FLOW, step=step.index, field="show_if")


def _examine_questions(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield demographic questions that nobody can answer. One query."""
    if not any(step.kind == Demographics.name for step in steps):
        return
    for n, question in enumerate(instrument.questions.all(), start=1):
        named = {"n": n, "label": question.label}
        problems: list[tuple[str, str]] = []
        if not question.label.strip():
            problems.append(("label", _("Question %(n)d has no text.") % named))
        if question.kind in {QuestionKind.CHOICE, QuestionKind.CHOICES}:
            if len(question.options) < 2:
                text = _("“%(label)s”: enter at least two options for a choice.")
                problems.append(("options", text % named))
            if len(set(question.options)) < len(question.options):
                problems.append(("options", _("“%(label)s”: an option is given twice.") % named))
        low, high = question.minimum, question.maximum
        if low is not None and high is not None and low > high:
            text = _("“%(label)s”: %(high)d is below the minimum of %(low)d.")
            problems.append(("maximum", text % {**named, "low": low, "high": high}))
        for field, text in problems:
            yield Finding(text, Place.QUESTIONS, field=f"questions {n} {field}")


def _examine_texts(instrument: Instrument) -> Iterator[Finding]:
    """Yield texts that are missing in a language. Two queries, and five for each further one."""
    texts = {
        (language, key): text
        for language, key, text in instrument.wordings.values_list("language", "key", "text")
        if text.strip()
    }
    for language in list_languages(instrument):
        wanted = default_wording(instrument.study.kind)
        missing = [key for key in wanted if (language, key) not in texts]
        place, sources = Place.TEXTS, {}
        if language != instrument.language:
            translated = list_texts(instrument, language)
            sources = {text.key: text.source for text in translated}
            yield from _examine_age(language, translated)
            # Steps and arms are told of one by one, with the place where each is mended.
            missing = find_missing(text for text in translated if text.is_wording)
            place = Place.LANGUAGES
        if missing:
            yield Finding(
                _("Texts are missing in %(language)s: %(keys)s.")
                % {
                    "language": own_name(language),
                    "keys": _join_keys(name_texts(missing, sources)),
                },
                place,
                field=missing[0],
            )
        if "{group}" not in texts.get((language, "question"), "{group}"):
            yield Finding(
                _("The question in %(language)s does not name the group: it lacks “{group}”.")
                % {"language": own_name(language)},
                Place.TEXTS,
                field="question",
            )


def _examine_pay(study: Study, instrument: Instrument) -> Iterator[Finding]:
    """Yield texts that promise pay to all who finish. One query for a study that pays.

    No study can: the rules allow each to refuse it, for exceptional speed at least.
    """
    if not study.is_paid:
        return
    for language, key, text in instrument.wordings.values_list("language", "key", "text"):
        for sentence in re.split(r"[.!?\n]+", text):
            if all(words.search(sentence) for words in PAY_FOR_ALL):
                yield Finding(
                    _(
                        "“%(key)s” in %(language)s promises pay to all who finish: “%(sentence)s”. "
                        "Pay can be refused, and the consent page lists for what: write “if your "
                        "answers are accepted”, or leave it out."
                    )
                    % {
                        "key": name_texts([key], {key: text})[0],
                        "language": own_name(language),
                        "sentence": sentence.strip(),
                    },
                    Place.TEXTS,
                    field=key,
                )


def _examine_age(language: str, texts: list[InstrumentText]) -> Iterator[Finding]:
    if stale := {text.key: text.source for text in texts if text.is_stale}:
        yield Finding(
            _(
                "Reworded since they were translated into %(language)s: %(keys)s. Until they are "
                "translated again, the survey is not offered in that language."
            )
            % {"language": own_name(language), "keys": _join_keys(name_texts(stale, stale))},
            Place.LANGUAGES,
            blocks=False,
        )


def _join_keys(keys: list[str]) -> str:
    shown, rest = ", ".join(keys[:MOST_KEYS]), len(keys) - MOST_KEYS
    return shown if rest <= 0 else _("%(keys)s and %(n)d more") % {"keys": shown, "n": rest}


def _examine_arms(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield what is wrong with the arms, and conditions on arms that there are not."""
    arms = read_arms(instrument.arms)
    for step in steps:
        for comparison in iterate_comparisons(step.show_if) if step.show_if else ():
            if (comparison.source, comparison.name) != ("visit", "arm"):
                continue
            values = comparison.values if isinstance(comparison, OneOf) else ()
            for value in values:
                if value not in arms:
                    text = _("Step %(n)d depends on the arm “%(name)s”, which there is not.")
                    text %= {"n": step.index + 1, "name": value}
                    yield Finding(text, Place.FLOW, step=step.index, field="show_if")
    if arms:
        for text in find_arm_faults(
            arms,
            groups=set(instrument.groups.values_list("slug", flat=True)),
            wanted=sum(step.kind == RatingStep.name for step in steps),
            languages=list_languages(instrument),
        ):
            yield Finding(text, Place.ARMS)


def _examine_media(study: Study, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield pictures and sounds that the study does not have. One query where steps show any."""
    shown = [(step, media) for step in steps if (media := getattr(step.content, "media", None))]
    known = set(list_files(study).values_list("digest", flat=True)) if shown else set()
    for step, media in shown:
        if media.file not in known:
            text = _("Step %(n)d shows a picture or sound that this study does not have.")
            text %= {"n": step.index + 1}
            yield Finding(text, Place.FLOW, step=step.index, field="media file")


def _examine_step_texts(languages: list[str], steps: tuple[Step, ...]) -> Iterator[Finding]:
    for language in languages:
        for step in steps:
            if step.content is None:
                continue
            for place, written in iterate_texts(step.content):
                text = written.get(language, "").strip()
                blank = next((word for word in BLANKS if word in text), "")
                if text and not blank:
                    continue
                said = (
                    _("Step %(n)d (%(kind)s): %(place)s still says “%(blank)s” in %(language)s.")
                    if blank
                    else _("Step %(n)d (%(kind)s): %(place)s is missing in %(language)s.")
                )
                about = {"n": step.index + 1, "kind": KINDS[step.kind].label, "place": place}
                yield Finding(
                    said % {**about, "language": own_name(language), "blank": blank},
                    Place.FLOW,
                    step=step.index,
                    field=place,
                )


def _examine_equal_answers(languages: list[str], steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield answers that read alike: the data tell them apart, participants cannot."""
    for language in languages:
        for step in steps:
            seen: dict[tuple[str, str], str] = {}
            for place, written in iterate_texts(step.content) if step.content else ():
                listed = LISTED_TEXT.fullmatch(place)  # such as “options 2 text”
                text = " ".join(written.get(language, "").casefold().split())
                if not listed or not text:
                    continue
                part, number = listed.groups()
                earlier = seen.setdefault((part, text), number)
                if earlier != number:
                    said = _(
                        "Step %(n)d (%(kind)s): %(part)s %(one)s and %(other)s read the same in "
                        "%(language)s."
                    ) % {
                        "n": step.index + 1,
                        "kind": KINDS[step.kind].label,
                        "part": part,
                        "one": earlier,
                        "other": number,
                        "language": own_name(language),
                    }
                    yield Finding(said, Place.FLOW, blocks=False, step=step.index, field=place)


def _examine_settings(study: Study, steps: tuple[Step, ...]) -> Iterator[Finding]:
    if not study.contact_email:
        yield Finding(
            _("There is no address at which participants reach the researchers."),
            Place.SETTINGS,
            field="contact_email",
        )
    if study.panel == Panel.PROLIFIC:
        for outcome in _list_outcomes(study, steps):
            if not study.completion_codes.get(outcome.value):
                yield Finding(
                    _("There is no completion code for “%(outcome)s”.")
                    % {"outcome": outcome.label},
                    Place.SETTINGS,
                    field=f"code_{outcome.value}",
                )
    if study.withdraw_until is not None and study.withdraw_until < timezone.now().date():
        yield Finding(
            _("The last day for withdrawal, %(day)s, has passed.")
            % {"day": study.withdraw_until.isoformat()},
            Place.SETTINGS,
            blocks=False,
            field="withdraw_until",
        )
    minimum = load_panel_settings(study).minimum_hourly_minor
    hourly = study.reward_cents * 60 / study.estimated_minutes
    if not study.reward_cents and study.panel != Panel.LINK:
        yield Finding(
            _("The study pays no reward."), Place.SETTINGS, blocks=False, field="reward_cents"
        )
    elif hourly < minimum:
        yield Finding(
            _("The reward pays %(pay).2f %(currency)s an hour, below the lowest of %(low).2f.")
            % {"pay": hourly / 100, "currency": study.currency, "low": minimum / 100},
            Place.SETTINGS,
            blocks=False,
            field="reward_cents",
        )


def _examine_margins(
    study: Study, instrument: Instrument, steps: tuple[Step, ...]
) -> Iterator[Finding]:
    """Yield targets that the questions cannot reach, and what choosing people asks of the flow.

    Targets that are only compared with keep nobody from launching.
    """
    margins, chooses = study.margins, study.samples_by_margins
    if not margins and not chooses:
        return
    questions = list(instrument.questions.all())
    for fault in find_margin_faults(margins, questions):
        yield Finding(fault.text, Place.MARGINS, blocks=chooses, field=fault.slug)
    if not chooses:
        return
    for fault in find_screening_faults(steps):
        yield Finding(fault.text, Place.FLOW, step=fault.step)
    for text in describe_closed_cells(margins, questions, study.planned_people or 0):
        yield Finding(text, Place.MARGINS, blocks=False)
    if load_panel_settings(study).screen_out_pay == ScreenOutPay.NOTHING:
        yield Finding(
            _("People who are not chosen are turned away after the first questions without pay."),
            Place.MARGINS,
            blocks=False,
        )


def _list_outcomes(study: Study, steps: tuple[Step, ...]) -> list[Outcome]:
    """Return the ends that this flow can come to, and those that every study can."""
    outcomes = [Outcome.COMPLETED, Outcome.TIMED_OUT, Outcome.QUOTA_FULL]
    if any(KINDS[step.kind].is_check for step in steps):
        outcomes.append(Outcome.FAILED_CHECK)
    if any(step.kind == Consent.name for step in steps):
        outcomes.append(Outcome.NO_CONSENT)
    if study.samples_by_margins or any(
        step.content is not None and step.content.screens_out for step in steps
    ):
        outcomes.append(Outcome.SCREENED_OUT)
    return outcomes


def _examine_promises(instrument: Instrument, steps: tuple[Step, ...]) -> Iterator[Finding]:
    """Yield what the flow leaves out or says that participants would have a right to mind."""
    if not any(step.kind == Consent.name for step in steps):
        yield Finding(
            _("Nobody is asked for consent: the flow has no such step."), Place.FLOW, blocks=False
        )
    if not instrument.study.is_paid:
        spoken = instrument.wordings.filter(language="en", text__iregex=OF_PAYMENT).first()
        if spoken is not None:
            yield Finding(
                _("The study pays no reward, and its text “%(key)s” speaks of payment.")
                % {"key": name_texts([spoken.key], {spoken.key: spoken.text})[0]},
                Place.TEXTS,
                blocks=False,
            )
    rejecting = {kind.value for kind, rule in CHECK_RULES.items() if rule.may_reject}
    promised = instrument.wordings.filter(key="instructions_body", text__contains=PROMISE).exists()
    for step in steps:
        if promised and step.kind in rejecting:
            yield Finding(
                _(
                    "The instructions say of the checks: “%(promise)s” Panels allow rejection for "
                    "step %(n)d, a check of another kind. Reword them, or never reject for it."
                )
                % {"promise": PROMISE, "n": step.index + 1},
                Place.TEXTS,
                blocks=False,
                step=step.index,
            )
            return


def estimate_minutes(instrument: Instrument, steps: tuple[Step, ...]) -> float:
    """Return the minutes that the steps of an instrument may take in its language. Three queries.

    A rule of thumb, not a finding. Steps with a condition count in full.
    """
    language = instrument.language
    extent = Extent(
        lines=instrument.scales.count(),
        questions=instrument.questions.count(),
        wording=dict(instrument.wordings.filter(language=language).values_list("key", "text")),
        say=partial(text_in, language=language),
    )
    return sum(step.content.seconds(extent) for step in steps if step.content) / 60


def _examine_time(
    study: Study, instrument: Instrument, steps: tuple[Step, ...]
) -> Iterator[Finding]:
    minutes = estimate_minutes(instrument, steps)
    told = study.estimated_minutes
    if not SHORTEST_SHARE * minutes <= told <= LONGEST_SHARE * minutes:
        yield Finding(
            _(
                "Participants are told %(told)d minutes. By the number of lines, questions and "
                "words we expect about %(expected)d."
            )
            % {"told": told, "expected": max(1, round(minutes))},
            Place.SETTINGS,
            blocks=False,
            field="estimated_minutes",
        )
