"""The researchers' pages of people's side; importing this package registers them."""

from annotation.admin.accounts import GroupAdmin, TokenAdmin, UserAdmin
from annotation.admin.corpus import CorpusAdmin
from annotation.admin.instrument import InstrumentAdmin
from annotation.admin.judging import JudgmentStudyAdmin
from annotation.admin.library import GroupExclusionAdmin, GroupSetAdmin
from annotation.admin.library_entry import SocialGroupAdmin, TraitPairAdmin
from annotation.admin.study import StudyAdmin
from annotation.admin.submission import SubmissionAdmin
from annotation.admin.writing import WritingStudyAdmin

__all__ = [
    "CorpusAdmin",
    "GroupAdmin",
    "GroupExclusionAdmin",
    "GroupSetAdmin",
    "InstrumentAdmin",
    "JudgmentStudyAdmin",
    "SocialGroupAdmin",
    "StudyAdmin",
    "SubmissionAdmin",
    "TokenAdmin",
    "TraitPairAdmin",
    "UserAdmin",
    "WritingStudyAdmin",
]
