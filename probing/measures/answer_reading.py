"""What an answer in words says: a rating, a refusal, or nothing that can be read."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from annotation.common.lazy import pd
from probing.lm.question_protocols import Answer
from probing.measures.base import ANSWER_COLUMNS
from probing.measures.number_words import names_another, read_number_words

#: Characters of an answer that are read, and how often in a row one of them counts: what is written
#: without end, or to keep a reader busy, says nothing.
LONGEST_READ, MOST_ALIKE = 10_000, 40
#: Characters of an answer that are kept.
LONGEST_KEPT = 20_000
_ALIKE = re.compile(rf"(.)\1{{{MOST_ALIKE},}}", re.DOTALL)
_SPACES = re.compile(rf"\s{{{MOST_ALIKE},}}")
Outcome = Literal["answered", "refused", "unreadable", "cut_off"]
#: Why a value differs from the number in the answer.
RESCALED = "rescaled from another scale"

_LETTERS = "A-Za-zÀ-ɏ"
#: A number with its sign, and the letters that hang on it: “70”, “-5”, “70,5”, “.5”, “4.5e1”.
_NUMBER = re.compile(
    rf"(?<![{_LETTERS}\d])(?P<sign>[-−+]|(?<!\S)[–—]|\b(?:minus|negative|menos)\s+)?"
    r"(?P<digits>\d+(?:[.,]\d+)*|(?<!\.)[.,]\d+)(?P<power>[eE][-+]?\d+)?"
    rf"(?P<tail>[{_LETTERS}\d½⅓⅔¼¾]*)",
    re.IGNORECASE,
)
_UNITS = {"", "pt", "pts", "point", "points", "punto", "puntos", "percent", "ish"}
_OF = r"(?:/|out\s+of|of|de|sobre|sur|von|di|su|из|من)"
_POINTS = r"(?:points?|pts|puntos?|punkte|分|点|점)"
#: “57/100”, “57 out of 100”, “57 %”, “100分中70点”, “0 to 100”: the scale itself is no answer.
_OF_SCALE = re.compile(
    rf"(?:[\s(]*(?:/|out\s+of)|(?<=\d)\s*{_POINTS}?[\s(]*{_OF})\s*(?:(?:a|the|one)\s+)?"
    r"(?:100(?![.,]?\d)|hundred\b)\)?|\s*[%٪％]|\s*per\s?cent\b|(?<=\d)\s*por ciento\b"
    rf"|100\s*{_POINTS}\s*(?:中|満点|制|만점)|[（(]?满分\s*(?:为|是)?\s*100"
    r"|\b(?:on|with)\s+(?:a\s+)?(?:scale\s+of\s+|maximum\s+of\s+)?100\b(?:\s*-?\s*point scale)?",
    re.IGNORECASE,
)
_END = r"\s*(?:\([^()\d]{0,60}\)|[“\"'][^“”\"'\d]{0,60}[”\"'])?\s*"
_MEANS = r"\s*(?:=|:|\(|means?|meaning|is|being|as|for|stands for|significa|es|represents)"
_SCALE = re.compile(
    r"(?<![\w.,])(?:(?:from|between|de|entre|von|从|從)\s*)?(?:[01]|zero|cero)(?![.,]?\d)"
    rf"{_END}(?:to|through|–|-|—|~|and|a|y|bis|à|到|至|から|～){_END}"
    r"(?:100|(?:a|one) hundred)(?![.,]?\d)"
    rf"|(?<![\w.,])0{_MEANS}[^\d.!?]{{1,80}}?\b100\b(?:{_MEANS}|\s+(?=the\b))[^\d.!?,;]{{1,80}}",
    re.IGNORECASE,
)
_OTHER_SCALE = re.compile(
    rf"(?:/|out\s+of|\d\s*{_OF})\s*(?:an?\s+|the\s+)?\d|\d\s*-?\s*point\s+scale"
    r"|\d\s*(?:stars?\b|★)",
    re.IGNORECASE,
)
#: “7 out of 10”, alone on its scale.
_RESCALED = re.compile(r"(\d+(?:[.,]\d+)?)[\s(]*(?:/|out\s+of|de|von|sur|sobre)\s*(5|10|20|1000)\b")
#: A number that bounds a rating, or that it is not.
_BOUND = re.compile(
    r"(?:[<>≤≥±]\s*=?|\b(?:at (?:least|most)|(?:more|less|higher|lower|greater|fewer|rather|other)"
    r" than|above|below|over|under|up to|instead of|anything but|never|nearly|almost|"
    r"no(?:t| )(?:an? |quite |exactly |really )?|m[áa]s de|menos de|isn't|wasn't|wouldn't be|"
    r"al menos|como m[áa]ximo|por (?:encima|debajo) de|mayor (?:que|a)|menor (?:que|a)))\s*\d"
    r"|\d\s*(?:\+|±|or (?:more|less|so|higher|lower|above|below)|o (?:m[áa]s|menos)|at (?:least|"
    r"most)|plus\b|(?:is|would be|seems|sounds|feels) (?:a (?:bit|little) )?(?:too|not|wrong|"
    r"unfair|inappropriate|meaningless)\b)(?!\w)",
    re.IGNORECASE,
)
#: A number in a question.
_ASKED = re.compile(r"\d[\s\"'”)\]]*\?")
#: A number that counts or orders something else, and one that names a share of both.
_OF_SOMETHING = re.compile(
    r"\d[\s-]*(?:years?|months?|days?|hours?|minutes?|times|people|persons?|men|women|individuals|"
    r"groups?|states?|countries|words?|reasons?|traits?|dollars|euros?|degrees?|million|billion|"
    r"thousand|hundreds?|dozen|años|personas|veces|millones|mil)\b|[$€£¥]\s*\d(?![^$]*\$)"
    r"|\b(\d+)\s*[-–/:]\s*\1\b",
    re.IGNORECASE,
)
#: What may still follow where an answer is cut behind a number: 4 → 45, 60 → 60 to 70.
_GOES_ON = re.compile(
    r"[\s.,/+eE–-]*(?:\b(?:to|or|and|out|out of|of|a|y|o|de|sobre|von|bis|sur)\b)?\s*",
    re.IGNORECASE,
)
_SAY = (
    r"(?:say|rate|answer|provide|give|assign|do|help(?! but)|assist|comply|share|respond|offer|"
    r"make|express|judge|generali[sz]e|participate|engage|fulfil+|complete|choose|pick|select|tell|"
    r"endorse|state|put|place|score|evaluate|assess|support|speak|comment|rank|estimate|go|name|"
    r"quantify|stereotype|categori[sz]e|label|characteri[sz]e|describe|reduce|justify|recommend|"
    r"discuss|allow|confirm|commit|back|stand|that|this|it|so|in good conscience|ethically)\b"
    r"|[.!,;:—–-]|$"
)
_MODEL = r"(?:i|we|(?:this|the) (?:ai|model|assistant))"
_SOFTLY = (
    r"(?:\s+(?:really|simply|just|also|still|must|do|am|therefore|personally|unfortunately)){0,9}"
)
#: Refusals that hold although a number is named: “It would be 70, but I can't say that.”
_REFUSES = re.compile(
    rf"(?:\b{_MODEL}{_SOFTLY}\s+|(?:^|[.!?]\s|\bbut\s)\s*)(?:can ?not|can'?t|could(?: not|n't)|"
    r"won'?t|will not|would(?: not|n't)|should(?: not|n't)|must(?: not|n't)|do(?: not|n't))"
    r"(?:\s+(?:really|ever|possibly|actually|in good faith|be able to|want to|wish to)){0,9}"
    rf"\s*(?:{_SAY})"
    r"|\b(?:i|we)(?:'m| am|'re| are)?(?:\s+(?:sorry|afraid|i|but|am|'m|must|have to|respectfully|"
    r"just|simply|therefore)){0,9}\s+(?:unable|not (?:able|allowed|permitted|comfortable|willing|"
    r"going|in a position)|unwilling|refuse|decline|prefer not|"
    r"(?:would|'d) (?:rather|prefer) not)\b"
    r"|\b(?:i|we)'d (?:rather|prefer) not\b|^(?:unable|not able|i?'?d rather not|refus|declin)"
    r"|\bdo(?: not|n't) feel (?:comfortable|able|right)|\bnot something (?:i|we) "
    r"|\b(?:can ?not|can't|should ?n[o']t|must not) be (?:rated|said|answered|given|quantified|"
    r"reduced|measured|scored|generali[sz]ed|ranked)"
    r"|\b(?:(?:you|one|people) (?:can ?not|can't|should(?: not|n't))|(?:nobody|no one) "
    r"(?:can|should)) (?:rate|judge|generali[sz]e|reduce|stereotype)\b"
    r"|\b(?:isn't|would(?: not|n't) be|won't be) (?:appropriate|right|ethical|fair|responsible)\b"
    r"|\b(?:am|'m) (?:un|not )comfortable\b|^\W*n/a\b|\bi(?:'ll| will) pass\b|^\W*(?:pass|skip)\b"
    r"|\bwould (?:be|have been) \d+[^.]*\bbut\b[^.]*(?:stereotyp|generali[sz]|inappropriate)"
    r"|\b(?:is|'s|would be|seems|feels) (?:not (?:appropriate|right|ethical|fair)|inappropriate|"
    r"unethical|unfair|wrong|harmful) (?:to|for me)\b"
    r"|\bif (?:i|we) (?:could|were (?:able|allowed|permitted|to be allowed))\b"
    r"|\b(?:i|we) (?:take (?:that|it) back|withdraw|retract|refrain|abstain|pass\b|"
    r"have to (?:refuse|decline|pass)|choose not)|\b(?:disregard|ignore) (?:that|this|my)\b"
    r"|\b(?:against|violates?) (?:my|our) (?:guidelines|principles|policy|policies|programming)\b"
    r"|\brefus(?:e|ing) to (?:answer|rate|say|give|assign)\b"
    r"|\bno (?:lo |se lo |te lo |la |le )?(?:puedo|podr[íi]a|quiero|voy a|debo|deber[íi]a|"
    r"podemos|me es posible|es posible|estoy en condiciones|me corresponde|ser[íi]a apropiado|"
    r"es apropiado|me siento c[óo]mod)|\bme niego|\bprefiero no|\bme abstengo"
    r"|\bje (?:ne |n')(?:peux|veux|saurais|vais|souhaite)[^.,;]*\b|\bje (?:refuse|préfère ne)"
    r"|\b(?:kann|möchte|werde|will|darf) (?:ich )?(?:das |es |dazu |so )*nicht\b|\bweigere mich"
    r"|\bnão (?:posso|consigo|vou|quero|devo)|\b(?:me )?recuso|\bnon posso|\bmi rifiuto"
    r"|我(?:不能|无法|不会|拒绝)|無法|无法(?:评|回答|给)|抱歉|对不起|できません|できかねます|お答えでき"
    r"|할 수 없|드릴 수 없|не могу|отказываюсь|لا أستطيع|لا يمكنني|أعتذر|नहीं (?:दे|कर|बता) सकत",
    re.IGNORECASE | re.MULTILINE,
)
#: What follows the words of a refusal where they are none: doubt, and a bound.
_NO_REFUSAL = re.compile(
    r"[^.,;:]{0,400}?\b(?:(?:for )?sure|certain(?:ty|ly)?|exact(?:ly)?|precise(?:ly)?|"
    r"definitive(?:ly)?|(?:less|more|other|fewer) than|lower|higher|anything but|below|above|"
    r"certeza|exactitud|precisi[óo]n|menos de|m[áa]s de|segur[oa])\b",
    re.IGNORECASE,
)
#: Words of a refusal where no number is named, and of a reservation where one is.
_RESERVED = re.compile(
    r"\b(?:sorry|as an? (?:ai|language model|artificial)|not appropriate|inappropriate|"
    r"stereotyp\w*|generali[sz]\w*|no comment|(?:do not|don't) think it|"
    r"(?:do not|don't) have (?:any |a )?(?:personal )?"
    r"(?:opinions?|beliefs?|feelings?|views?|preferences?)|not possible to|impossible to|"
    r"lo siento|como (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)|"
    r"désolée?|tut mir leid|desculpe|mi dispiace)\b|죄송|申し訳|извините",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ReadRating:
    """How an answer ended; `why` there is no value, or another than the answer names.

    rescaled : what an answer on another scale, such as 7 out of 10, comes to on this one
    """

    outcome: Outcome
    value: float | None = None
    why: str = ""
    rescaled: float | None = None


def read_rating(
    answer: Answer, *, low: float = 0, high: float = 100, rescale: bool = False
) -> ReadRating:
    """Return the one number from `low` to `high` that an answer gives, or why it gives none.

    The same number twice counts once. Nothing that a refusal goes with is a rating. With `rescale`
    an answer on another scale, such as 7 out of 10, counts as what it comes to. An answer of more
    than `LONGEST_READ` characters gives none.
    """
    if len(answer.text) > LONGEST_READ:
        outcome = outcome_of(answer, readable=False)
        return ReadRating(outcome, why=f"{outcome}, longer than {LONGEST_READ:,} characters")
    text = _plain(answer.text)
    if not _NUMBER.search(text):
        text = read_number_words(text) or text
    bare = _OF_SCALE.sub(" ", _SCALE.sub(" ", text))
    numbers = list(_NUMBER.finditer(bare))
    cut = answer.finish == "length"
    named = bool(numbers)
    if answer.finish == "refused" or refuses(answer.text, named=named):
        return ReadRating("refused", why="refused, with a number" if named else "refused")
    if cut and not numbers:
        return ReadRating("cut_off", why="cut off before a number")
    if cut and _GOES_ON.fullmatch(text[list(_NUMBER.finditer(text))[-1].end() :]):
        return ReadRating("cut_off", why="cut off at a number")
    if why := _why_unreadable(bare, numbers):
        if (rescaled := _rescale(text)) is not None and rescale:
            return ReadRating("answered", rescaled, RESCALED, rescaled)
        return ReadRating("unreadable", why=why, rescaled=rescaled)
    (value,) = {_value(one) for one in numbers}
    if not low <= value <= high:
        return ReadRating("unreadable", why=f"a number outside {low:g} to {high:g}")
    return ReadRating("answered", value)


def keepable(text: str) -> str:
    """Return the text as it is kept: no database keeps the character 0 in it."""
    return text.replace("\0", "")[:LONGEST_KEPT]


def said_rows(rows: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as `ANSWER_COLUMNS` under other names; those that they lack are empty."""
    renamed = rows.rename(columns=dict(names))
    return renamed.reindex(columns=list(ANSWER_COLUMNS), fill_value="")


def _why_unreadable(bare: str, numbers: list[re.Match[str]]) -> str:
    if not numbers:
        return "no number"
    if _OTHER_SCALE.search(bare):
        return "a number on another scale"
    values = {_value(one) for one in numbers}
    if len(values) > 1 or names_another(bare, min(values)):
        return "several numbers"
    if _BOUND.search(bare):
        return "a bound"
    if _ASKED.search(bare):
        return "a number in a question"
    if _OF_SOMETHING.search(bare):
        return "a number of something else"
    (one,) = values
    if 0 < one < 1:
        return "a number that may be on another scale"
    return "no plain number" if math.isnan(one) else ""


def _rescale(text: str) -> float | None:
    """Return what the only numbers of a text, “7 out of 10”, come to on a scale to 100."""
    found = _RESCALED.search(text)
    if found is None or len(_NUMBER.findall(text)) != 2:
        return None
    share = float(found[1].replace(",", ".")) / float(found[2])
    return round(100 * share, 6) if share <= 1 else None


def _value(number: re.Match[str]) -> float:
    """Return a number, NaN for one that is none or can be read in two ways (1,000; 1.2.3; 70k)."""
    digits = number["digits"]
    odd = len(re.findall("[.,]", digits)) > 1 or re.fullmatch(r"\d+[.,]\d{3}", digits)
    if odd or number["tail"].lower() not in _UNITS:
        return math.nan
    value = float(digits.replace(",", ".") + (number["power"] or ""))
    return value if (number["sign"] or "+") == "+" else -value


def _plain(text: str) -> str:
    """Return the text that is read: ASCII's digits and signs, no marks of emphasis and formulas."""
    text = _ALIKE.sub(lambda found: found[1] * MOST_ALIKE, text[:LONGEST_READ])
    text = _SPACES.sub(lambda found: "\n" if "\n" in found[0] else " ", text)
    plain = "".join(
        str(unicodedata.decimal(one))
        if one.isdecimal()
        else chr(ord(one) - 0xFEE0)
        if "！" <= one <= "～"
        else one
        for one in text
    )
    plain = plain.replace("’", "'").replace("٫", ".").replace("\xa0", " ").replace("⁄", "/")
    plain = re.sub(r"\\boxed\s*\{([^{}]*)\}", r"\1", plain)
    return re.sub(r"\$\s*([^$]*\d[^$]*?)\s*\$", r"\1", re.sub(r"[*_`]|</?\w+>", "", plain))


def refuses(text: str, *, named: bool) -> bool:
    """Return whether the words refuse, beside what was asked for (`named`) or without it."""
    plain = _plain(text)
    for found in _REFUSES.finditer(plain):
        if not _NO_REFUSAL.match(plain, found.end()):
            return True
    return not named and _RESERVED.search(plain) is not None


def outcome_of(answer: Answer, *, readable: bool) -> Outcome:
    """Return how an answer in words ended, given whether it named what was asked for."""
    if answer.finish == "refused" or refuses(answer.text, named=readable):
        return "refused"
    if readable:
        return "answered"
    return "cut_off" if answer.finish == "length" else "unreadable"
