"""Which page serves which kind of step."""

from __future__ import annotations

from annotation.instruments.flow import Step, StepKind
from annotation.models import CheckKind
from annotation.survey.pages.choice import ChoicePage
from annotation.survey.pages.comprehension import ComprehensionPage
from annotation.survey.pages.consent import ConsentPage
from annotation.survey.pages.demographics import DemographicsPage
from annotation.survey.pages.free_text import FreeTextPage
from annotation.survey.pages.group_name import GroupNamePage
from annotation.survey.pages.marked_traits import MarkedTraitsPage
from annotation.survey.pages.matrix import MatrixPage
from annotation.survey.pages.number import NumberPage
from annotation.survey.pages.page import Page
from annotation.survey.pages.practice import PracticePage
from annotation.survey.pages.ranking import RankingPage
from annotation.survey.pages.rating import RatingPage
from annotation.survey.pages.reading_checks import ReadingCheckPage
from annotation.survey.pages.repeat import RepeatPage
from annotation.survey.pages.slider import SliderPage
from annotation.survey.pages.text import InstructionsPage, OwnTextPage, TextPage
from annotation.survey.pages.typed_traits import TypedTraitsPage
from annotation.survey.visits.condition_context import is_asked
from annotation.survey.visits.visit import Visit

PAGES: dict[StepKind, Page] = {
    StepKind.CONSENT: ConsentPage(),
    StepKind.INSTRUCTIONS: InstructionsPage("instructions"),
    StepKind.PAGE: OwnTextPage(),
    StepKind.PRACTICE: PracticePage(),
    StepKind.RATING: RatingPage(),
    StepKind.GROUP_NAME: GroupNamePage(),
    StepKind.MARKED_TRAITS: MarkedTraitsPage(),
    StepKind.TYPED_TRAITS: TypedTraitsPage(),
    StepKind.REPEAT: RepeatPage(),
    StepKind.INSTRUCTED: ReadingCheckPage(CheckKind.INSTRUCTED),
    StepKind.NONSENSICAL: ReadingCheckPage(CheckKind.NONSENSICAL),
    StepKind.COMPREHENSION: ComprehensionPage(),
    StepKind.CHOICE: ChoicePage(),
    StepKind.FREE_TEXT: FreeTextPage(),
    StepKind.SLIDER: SliderPage(),
    StepKind.NUMBER: NumberPage(),
    StepKind.MATRIX: MatrixPage(),
    StepKind.RANKING: RankingPage(),
    StepKind.DEMOGRAPHICS: DemographicsPage(),
    StepKind.DEBRIEF: TextPage("debrief"),
}


def open_page(visit: Visit, step: Step) -> bool:
    """Return whether a step is shown: its condition holds, and its page can be asked."""
    return is_asked(visit, step) and PAGES[step.kind].open(visit, step)
