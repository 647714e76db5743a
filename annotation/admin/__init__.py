"""What is left of the researchers' pages to the admin: lists and plain forms.

Importing this package registers them.
"""

from annotation.admin.accounts import GroupAdmin, UserAdmin
from annotation.admin.annotator_study import JudgmentStudyAdmin, WritingStudyAdmin
from annotation.admin.corpus import CorpusAdmin
from annotation.admin.instrument import InstrumentAdmin
from annotation.admin.library_entry import (
    GroupExclusionAdmin,
    GroupSetAdmin,
    SocialGroupAdmin,
    TraitPairAdmin,
)
from annotation.admin.library_question import LibraryQuestionAdmin
from annotation.admin.study import StudyAdmin
from annotation.admin.submission import SubmissionAdmin
from annotation.admin.team import TeamAdmin

__all__ = [
    "CorpusAdmin",
    "GroupAdmin",
    "GroupExclusionAdmin",
    "GroupSetAdmin",
    "InstrumentAdmin",
    "JudgmentStudyAdmin",
    "LibraryQuestionAdmin",
    "SocialGroupAdmin",
    "StudyAdmin",
    "SubmissionAdmin",
    "TeamAdmin",
    "TraitPairAdmin",
    "UserAdmin",
    "WritingStudyAdmin",
]
