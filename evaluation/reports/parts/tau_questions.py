"""The questions that tau answers, in words, and the table that tells the answers apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

from evaluation.analyses.alignment_result import PooledAlignment, ResampledValue
from evaluation.analyses.tau_answers import Answer, Answers
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.reports.parts.document import KeyNumber
from evaluation.reports.parts.formatting import MISSING, interval, number, p_value
from evaluation.reports.parts.table import Column, Reader, ReportTable, read

GENERALIZING, NOISE_FREE, OBSERVED = "generalizing", "noise_free", "observed"
QUESTIONS = {
    GENERALIZING: "On groups like these: how closely does it follow people?",
    NOISE_FREE: "On these groups: how closely does it follow people?",
    OBSERVED: "On these groups, as observed: noise of the means left in",
}
#: What the interval of each question would draw anew.
OTHERS = {GENERALIZING: "other groups", NOISE_FREE: "other people", OBSERVED: "other people"}
TITLE = "What τ says to each question"
CEILING_LABEL = "Ceiling of τ as observed"
WHY = (
    "The mean of few ratings is noisy, and noise hides agreement. The first two lines take it out, "
    "as a correction for attenuation does with a correlation. Cite the first where you speak of "
    "social groups at large, the second where you speak of these groups alone, the third beside "
    "published tables."
)
METHOD = (
    "For groups like these and for these groups, the noise of the mean ratings is taken out of τ. "
    "Every two cells are compared; how far chance moves the difference of their means is estimated "
    "from the deviations of each rater, so that raters who rated both, unequal numbers, and "
    "unequal spread count as they are. The count of pairs in the same order is extrapolated to no "
    "noise (SIMEX, Cook and Stefanski 1994). For groups like these the interval leaves out one "
    "group at a time (jackknife, Student’s t with one degree of freedom fewer than groups), for "
    "these groups the signs of each person’s deviations are drawn again (wild bootstrap, Student’s "
    "t with one fewer than people); p comes from the same t as the interval. In simulated studies "
    "of many designs both cover the truth 92 to 99 times in 100; no interval is printed with fewer "
    "than ten people or five raters of a mean, where most of what is seen is noise, or where the "
    "simulation did not cover. As observed, τ is Kendall’s tau-b with the means as they are; its "
    "interval, from the same signs, says what as many other people would give on average. The "
    "ceiling of τ as observed is what the true means would reach against these ratings, (2/π) "
    "arcsin √reliability. “p, cells independent” is that of published tables: it takes every cell "
    "for an independent draw, which the cells of one group "
    "are not, so it is often too small."
)
CAVEAT = (
    "Where most ratings are at one end of the scale, a value without noise may be some hundredths "
    "off. With fewer than some eight groups the interval for groups like these is very wide."
)


@dataclass(frozen=True)
class QuestionRow:
    """One question asked of one τ.

    of : what the τ belongs to, such as a run or a subgroup
    p_cells, ceiling : of τ as observed, NaN for the other questions
    """

    of: Any
    question: Annotated[str, Shown(meaning="generalizing, noise_free or observed")]
    estimate: Annotated[Estimate, Shown("τ", 2, name="tau", style="strong")]
    p_value: Annotated[float, Shown("p", is_p=True, meaning="of the same question")]
    p_cells: Annotated[
        float,
        Shown(
            "p, cells independent",
            name="p_cells_independent",
            is_p=True,
            style="quiet",
            meaning="p-value of published tables: every cell an independent draw",
        ),
    ]
    reliability: Annotated[float, Shown(meaning="of the mean ratings, 0 to 1")]
    ceiling: Annotated[
        float, Shown("Ceiling", 2, meaning="what the true means would reach as observed")
    ] = float("nan")

    @property
    def interval_over(self) -> Annotated[str, Shown("Interval over")]:
        return OTHERS[self.question]


def pooled_rows(of: Any, pooled: PooledAlignment) -> list[QuestionRow]:
    """Return the answers of a pooled alignment, the one to cite first."""
    answers, nan = pooled.answers, float("nan")
    return [
        QuestionRow(of, question, estimate, answer.p_value, p_cells, answers.reliability, ceiling)
        for question, estimate, answer, p_cells, ceiling in (
            (GENERALIZING, answers.generalizing.estimate, answers.generalizing, nan, nan),
            (NOISE_FREE, answers.noise_free.estimate, answers.noise_free, nan, nan),
            (
                OBSERVED,
                pooled.tau.estimate(pooled.n_submissions),
                answers.observed,
                pooled.p_value,
                answers.ceiling,
            ),
        )
    ]


def question_table(
    rows: Iterable[QuestionRow], level: str, leading: tuple[Column, ...] = ()
) -> ReportTable:
    """Return the table; ``leading`` columns say what every τ belongs to."""
    rows = tuple(rows)
    return ReportTable.of_rows(
        "questions",
        TITLE,
        rows,
        QuestionRow,
        *leading,
        "question",
        Column("Question", value=lambda row: QUESTIONS[row.question], wide=not leading),
        *("estimate", "interval_over", "p_value", "p_cells"),
        Column("", "n", "estimate.n", 0, meaning="groups or people that the interval rests on"),
        "reliability",
        *(("ceiling",) if any(row.ceiling == row.ceiling for row in rows) else ()),
        Column("", "reason", "estimate.note", meaning="why there is no value or interval"),
        level=level,
        note="estimate.note",
    )


def answer_columns(path: str, head: str, group: str = "", **how: Any) -> tuple[Column, ...]:
    """Return a value without noise, with interval and test for either question.

    path : of a row's record with generalizing and noise_free; head : of the value
    """
    generalizing, noise_free = f"{path}generalizing", f"{path}noise_free"
    return (
        Column(
            head,
            "without_noise",
            f"{generalizing}.estimate",
            2,
            with_interval=True,
            prefix="generalizing_",
            interval_head="groups like these",
            style="strong",
            group=group,
            meaning="noise of the mean ratings taken out; interval for groups like these",
            **how,
        ),
        Column.p("p", "p_generalizing", f"{generalizing}.p_value", group=group),
        Column.p("p (Holm)", "p_generalizing_holm", group=group),
        Column("", "noise_free_low", f"{noise_free}.low"),
        Column("", "noise_free_high", f"{noise_free}.high"),
        Column("", "p_noise_free", f"{noise_free}.p_value"),
        Column("", "answer_reason", f"{generalizing}.estimate.note"),
    )


def interval_column(head: str, low: Reader, high: Reader, **how: Any) -> Column:
    """Return a column of an interval alone, whose value stands in another column."""

    def text(row: Any) -> str:
        ends = (read(row, low), read(row, high))
        return MISSING if None in ends else interval(*ends, signed=how.get("signed", False))

    return Column(head, value=text, decimals=2, cell=str, style="quiet", **how)


def tau_headline(values: Iterable[tuple[Any, Any]]) -> str:
    """Return what lists show beside a report: the range of τ, without noise where all have one.

    values : (pooled or subgroup as it is stored, its tau as observed)
    """
    pairs = [(pooled["answers"], observed["value"]) for pooled, observed in values]
    corrected = [answers["generalizing"]["value"] for answers, _ in pairs]
    whole = None not in corrected
    found = corrected if whole else [value for _, value in pairs if value is not None]
    if not found:
        return f"τ {MISSING}"
    texts = dict.fromkeys((number(min(found)), number(max(found))))
    return f"τ {' to '.join(texts)}" + ("" if whole else " as observed")


def tau_key(
    label: str, answers: Answers, observed: ResampledValue, level: str, *more: str
) -> KeyNumber:
    """Return the τ to cite as a number of the report's head, with its interval and p-value."""
    return KeyNumber(
        label,
        number(answers.generalizing.value),
        lines=(
            *_qualified(answers.generalizing, level, "for groups like these"),
            _observed(answers.generalizing, observed),
            *more,
        ),
    )


def precision_key(
    k: int, answers: Answers, observed: ResampledValue, level: str, *more: str
) -> KeyNumber:
    """Return precision at k without noise."""
    return KeyNumber(
        f"Precision at {k}",
        number(answers.precision.value),
        lines=(
            *_qualified(answers.precision, level, "for groups like these"),
            _observed(answers.precision, observed),
            *more,
        ),
    )


def ceiling_key(answers: Answers, observed: ResampledValue) -> KeyNumber:
    """Return what the true means would reach against these raters, for τ as observed."""
    return KeyNumber(
        CEILING_LABEL,
        number(answers.ceiling),
        lines=(
            f"τ as observed {number(observed.value)}",
            f"Reliability of the mean ratings {number(answers.reliability)}",
        ),
    )


def _observed(answer: Answer, observed: ResampledValue) -> str:
    said = f"as observed {number(observed.value)}"
    return said.capitalize() if answer.reason else f"Noise taken out; {said}"


def _qualified(answer: Answer, level: str, what: str) -> list[str]:
    reason = answer.reason or answer.interval_reason
    if reason:
        return [f"{str(reason)[:1].upper()}{str(reason)[1:]}."]
    test = "" if answer.p_value != answer.p_value else f", {p_value(answer.p_value)}"
    return [f"{level} interval {what} {interval(answer.low, answer.high)}{test}"]
