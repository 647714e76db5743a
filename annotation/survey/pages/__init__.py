"""The survey's pages, one for every kind of step. A new kind of step is a file and a line here."""

from annotation.survey.flow import StepKind
from annotation.survey.pages.consent import ConsentPage
from annotation.survey.pages.demographics import DemographicsPage
from annotation.survey.pages.group_name import GroupNamePage
from annotation.survey.pages.instructions import InstructionsPage
from annotation.survey.pages.marked_traits import MarkedTraitsPage
from annotation.survey.pages.page import Page
from annotation.survey.pages.rating import RatingPage
from annotation.survey.pages.repeat import RepeatPage

PAGES: dict[StepKind, Page] = {
    StepKind.CONSENT: ConsentPage(),
    StepKind.INSTRUCTIONS: InstructionsPage(),
    StepKind.RATING: RatingPage(),
    StepKind.GROUP_NAME: GroupNamePage(),
    StepKind.MARKED_TRAITS: MarkedTraitsPage(),
    StepKind.REPEAT: RepeatPage(),
    StepKind.DEMOGRAPHICS: DemographicsPage(),
}

__all__ = ["PAGES", "Page"]
