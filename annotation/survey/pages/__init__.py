"""The survey's pages. A kind of step brings its own; those that work on ratings are files here."""

from annotation.survey.pages.consent import ConsentPage
from annotation.survey.pages.demographics import DemographicsPage
from annotation.survey.pages.group_name import GroupNamePage
from annotation.survey.pages.marked_traits import MarkedTraitsPage
from annotation.survey.pages.page import Page, RetryPage, find_page, open_page
from annotation.survey.pages.rating import RatingPage
from annotation.survey.pages.repeat import RepeatPage
from annotation.survey.pages.typed_traits import TypedTraitsPage
