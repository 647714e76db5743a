"""The survey's pages, one for every kind of step. A new kind of step is a file and a line here."""

from annotation.survey.pages.page import Again, Page
from annotation.survey.pages.registry import PAGES, open_page
