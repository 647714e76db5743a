"""The data model of people's side."""

from annotation.models.annotator import Annotator, AnnotatorStatement
from annotation.models.audit import AuditAction, AuditEntry, AuditSeal
from annotation.models.colleague import (
    StudyInvitation,
    Team,
    TeamInvitation,
    TeamMember,
    TeamRole,
)
from annotation.models.corpus import Corpus, Split, Text, TextPair
from annotation.models.counterpart import (
    Adjudication,
    Counterpart,
    Overlap,
    TaskState,
    WritingDesign,
    WritingStudy,
    WritingTask,
)
from annotation.models.flag_counts import KeptFlagCounts
from annotation.models.import_recipe import ImportRecipe
from annotation.models.instrument import (
    AgreementRule,
    DemographicQuestion,
    Instrument,
    PoleSides,
    QuestionKind,
    ScaleOrder,
    Skipping,
    StudyGroup,
    TraitScale,
    Wording,
)
from annotation.models.judgment import (
    ASPECTS,
    LIKERT,
    CodedError,
    Judgment,
    JudgmentDesign,
    JudgmentItem,
    JudgmentStudy,
    JudgmentTask,
)
from annotation.models.late_return import LateReturn, ReturnResult
from annotation.models.library import (
    Dimension,
    Domain,
    GroupComponent,
    GroupExclusion,
    GroupSet,
    SocialGroup,
    TraitPair,
)
from annotation.models.library_question import ABOUT_PARTICIPANT, LibraryQuestion
from annotation.models.panel import (
    VERDICTS,
    ActionKind,
    ActionState,
    PanelAction,
    PanelEvent,
    PanelRecord,
    PanelSettings,
    PanelStatus,
    ScreenOutPay,
)
from annotation.models.participant import (
    Participant,
    ParticipantIdentity,
    ParticipantSummary,
)
from annotation.models.place_count import PlaceCount, PlaceKind, PlaceScope
from annotation.models.study import (
    PAYMENT_PERMISSION,
    SURVEY_KINDS,
    AcceptRule,
    ExcludeRule,
    MembershipRole,
    Origin,
    Outcome,
    Panel,
    QuotaRule,
    Study,
    StudyKind,
    StudyMembership,
    StudyStatus,
)
from annotation.models.study_file import StudyFile
from annotation.models.submission import (
    CheckKind,
    CheckResponse,
    DataDecision,
    DemographicAnswer,
    GroupAssignment,
    Means,
    Missing,
    MissingRating,
    PageEvent,
    PayDecision,
    Rating,
    RejectionGround,
    Review,
    StepAnswer,
    Submission,
    SubmissionOrigin,
    SubmissionState,
    UsedLink,
)
from annotation.models.withdrawal import Withdrawal
