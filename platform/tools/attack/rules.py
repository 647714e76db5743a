"""What each address asks for, declared once; an address without a rule is a finding.

The first pattern that fits the name of an address counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from tools.attack.roles import NOBODY, Role


@dataclass(frozen=True)
class Rule:
    """The right to look and the right to send.

    ``always`` is False where the state of things may refuse even those who have the right.
    ``scope`` is what a token needs to look; to send it needs “write”, unless it is about payments.
    """

    names: str
    look: str
    send: str
    always: bool = True
    is_json: bool = False
    scope: str = ""


def page(names: str, look: str, send: str = NOBODY, *, always: bool = True) -> Rule:
    return Rule(names, look, send, always)


def api(names: str, look: str, send: str = NOBODY, *, scope: str = "read") -> Rule:
    return Rule(names, look, send, look != NOBODY, is_json=True, scope=scope)


RULES = (
    # Participants: the study's link is public, everything else takes the visit's own.
    page("survey:home", "anyone"),
    page("survey:no-study", "anyone", "anyone", always=False),
    page("survey:landing", "anyone", "anyone", always=False),
    page("survey:file", "anyone", always=False),
    page("survey:receipt", "link", always=False),
    page("survey:own-file", "link"),
    page("survey:*", "link", "link"),
    # Annotators.
    page("annotators:login", "anyone", "anyone"),
    page("annotators:logout", NOBODY, "anyone"),
    page("annotators:join", "link", "link", always=False),
    page("annotators:password", "account", "account"),
    page("annotators:home", "account", "account"),
    page("counterparts:draft", NOBODY, "annotator"),
    page("counterparts:*", "annotator", "annotator"),
    page("judgments:*", "annotator", "annotator"),
    # Panels sign what they send; providers of accounts are not set up here.
    page("panels:events", NOBODY),
    page("oidc*", NOBODY),
    page("sign-in-by-link", "link", "link", always=False),
    page("second-factor", "account", "account"),
    page("security", "account", "account"),
    page("metrics", NOBODY),
    page("health", "superuser"),
    page("reproductions*", "permitted"),
    page("reproduction", "permitted", always=False),
    # Reports.
    page("reports:agreement-live", "reads", always=False),
    page("reports:retry", NOBODY, "reads"),
    page("reports:rebuild", NOBODY, "reads"),
    page("reports:pin", NOBODY, "changes"),
    page("reports:revoke", NOBODY, "changes", always=False),
    page("reports:rename", "changes", "changes"),
    page("reports:share", "changes", "changes"),
    page("reports:delete", "changes", "changes"),
    page("reports:*", "reads", always=False),
    # The API.
    api("api:study-payment-pay", NOBODY, "pays", scope="pay"),
    api("api:study-payment-*", "pays", scope="pay"),
    api("api:study-list", "staff", "staff"),
    api("api:study-judgment-list", "reads"),
    Rule("api:study-export-file", "reads", NOBODY, always=False, is_json=True, scope="read"),
    api("api:study-member-list", "reads"),
    api("api:study-member-detail", NOBODY, "owns"),
    api("api:study-invitation-list", "owns", "owns"),
    api("api:study-invitation-detail", NOBODY, "owns"),
    api("api:study-*", "reads"),
    api("api:guise-study-list", NOBODY, "staff"),
    api("api:writing-study-list", NOBODY, "staff"),
    api("api:group-set-list", "staff"),
    api("api:group-set-detail", "staff"),
    api("api:group-set-pairs", NOBODY, "permitted"),
    api("api:corpus-list", "staff"),
    api("api:corpus-*", "reads"),
    api("api:measure-*", "staff"),
    api("api:model-list", "permitted", "permitted"),
    api("api:model-detail", "permitted"),
    api("api:run-list", "permitted", "permitted"),
    api("api:run-dry-run", NOBODY, "permitted"),
    api("api:run-cancel", NOBODY, "reads"),
    api("api:run-resume", NOBODY, "reads"),
    api("api:run-classify", NOBODY, "reads"),
    api("api:run-*", "reads"),
    api("api:import-list", "staff", "staff"),
    api("api:stimuli-list", "staff"),
    api("api:report-list", "permitted", "permitted"),
    api("api:report-kinds", "permitted"),
    Rule("api:report-files", "reads", NOBODY, always=False, is_json=True, scope="read"),
    api("api:report-*", "reads"),
    api("api-schema", "staff"),
    page("api-docs", "staff"),
    api("-", NOBODY),
    # The admin's own pages.
    page("admin:login", "anyone", "anyone", always=False),
    page("admin:logout", NOBODY, "anyone"),
    page("admin:password_change*", "staff", "staff"),
    page("admin:autocomplete", NOBODY),
    page("admin:view_on_site", NOBODY),
    page("admin:app_list", "staff", "staff", always=False),
    page("admin:-", "staff", "staff", always=False),
    page("admin:index", "staff", "staff"),
    page("admin:search", "staff", "staff"),
    page("admin:jsi18n", "staff", "staff"),
    page("admin:axes_*_add", NOBODY),
    page("admin:axes_*", "superuser", "superuser", always=False),
    page("admin:auth_*", "superuser", "superuser", always=False),
    page("docs*", "anyone", always=False),
    page("overview-first-steps", NOBODY, "staff"),
    # Studies: what somebody sees who has a part in it, and what only some of them do.
    page("admin:annotation_*study_audit", "owns"),
    page("admin:annotation_study_gallery", "permitted", "permitted"),
    page("admin:annotation_study_begin", "permitted", "permitted", always=False),
    # A link of an invitation says for itself whom it lets in.
    page("admin:annotation_study_join", "link", "link", always=False),
    page("admin:annotation_team_changelist", "staff"),
    page("admin:annotation_team_add", "staff", "staff"),
    page("admin:annotation_team_join", "link", "link", always=False),
    page("admin:annotation_team_change", "owns", "owns"),
    page("admin:annotation_team_history", "owns", "owns", always=False),
    page("admin:annotation_team_*", NOBODY),
    page("admin:annotation_study_money_file", NOBODY, "pays"),
    page("admin:annotation_study_money_action", NOBODY, "pays"),
    page("admin:annotation_study_money_plan", NOBODY, "pays"),
    page("admin:annotation_*study_action", NOBODY, "changes"),
    page("admin:annotation_*study_delete", "changes", "changes", always=False),
    page("admin:annotation_*study_changelist", "staff", "staff"),
    # These lead on to a page that asks who may.
    page("admin:annotation_study_add", "staff", "staff", always=False),
    page("admin:annotation_*study_add", "permitted", "permitted"),
    page("admin:annotation_*study_change", "reads", "changes"),
    page("admin:annotation_writingstudy_publish", NOBODY, "changes"),
    page("admin:annotation_writingstudy_undo", NOBODY, "reviews"),
    page("admin:annotation_writingstudy_case", "reads", "reviews", always=False),
    page("admin:annotation_*study_annotators", "reads", "changes"),
    page("admin:annotation_*study_judges", "reads", "changes"),
    page("admin:annotation_study_margins", "reads", "changes"),
    page("admin:annotation_study_panel", "reads", "changes"),
    page("admin:annotation_*study_*", "reads"),
    page("admin:annotation_submission_decide", "staff", "staff", always=False),
    page("admin:annotation_submission_changelist", "staff", "staff"),
    page("admin:annotation_submission_add", NOBODY),
    page("admin:annotation_submission_delete", NOBODY),
    page("admin:annotation_submission_queue", "reads"),
    page("admin:annotation_submission_*", "reads", "reviews"),
    page("admin:annotation_instrument_preview", NOBODY, "reads"),
    page("admin:annotation_instrument_clear_previews", NOBODY, "changes"),
    page("admin:annotation_instrument_draft", NOBODY, "changes"),
    page("admin:annotation_instrument_keep_question", NOBODY, "reads", always=False),
    page("admin:annotation_instrument_changelist", "staff", "staff", always=False),
    page("admin:annotation_instrument_add", NOBODY),
    page("admin:annotation_instrument_delete", NOBODY),
    page("admin:annotation_instrument_language_action", NOBODY, "changes"),
    page("admin:annotation_instrument_*", "reads", "changes", always=False),
    page("admin:annotation_corpus_changelist", "staff", "staff"),
    page("admin:annotation_corpus_add", "staff", "staff", always=False),
    page("admin:annotation_corpus_delete", "owns", "owns", always=False),
    page("admin:annotation_corpus_import", "owns", "owns"),
    page("admin:annotation_corpus_change", "reads", "owns"),
    page("admin:annotation_corpus_*", "reads"),
    # Questions: one's own and those that are shared; only their owner changes them.
    page("admin:annotation_libraryquestion_changelist", "staff", "staff"),
    page("admin:annotation_libraryquestion_add", NOBODY),
    page("admin:annotation_libraryquestion_delete", "owns", "owns", always=False),
    page("admin:annotation_libraryquestion_*", "staff", "owns", always=False),
    # What all researchers share: groups, traits, templates, prompts, models, norms.
    page("admin:annotation_*_changelist", "staff", "permitted"),
    page("admin:annotation_*_change", "staff", "permitted"),
    page("admin:annotation_*_history", "staff", "permitted", always=False),
    page("admin:annotation_*_export", "staff"),
    page("admin:annotation_*_example", "staff"),
    page("admin:annotation_*_forms", "staff", "staff", always=False),
    page("admin:annotation_groupset_pair", NOBODY, "permitted"),
    page("admin:annotation_*", "permitted", "permitted", always=False),
    page("admin:probing_run_changelist", "permitted", "permitted"),
    page("admin:probing_run_add", "permitted", "permitted"),
    page("admin:probing_run_import", "staff", "permitted", always=False),
    page("admin:probing_run_cancel", NOBODY, "reads"),
    page("admin:probing_run_resume", NOBODY, "reads"),
    page("admin:probing_run_*", "reads", "reads", always=False),
    page("admin:probing_labeled*set_add", "staff", "staff", always=False),
    page("admin:probing_grouplexicon_add", "staff", "staff", always=False),
    page("admin:probing_*_changelist", "permitted", "permitted"),
    page("admin:probing_*", "permitted", "permitted", always=False),
    page("admin:evaluation_report_changelist", "permitted", "permitted"),
    page("admin:evaluation_report_add", "permitted", "permitted"),
    page("admin:evaluation_report_*", "reads", "reads", always=False),
    page("admin:evaluation_norm_add", "staff", "staff", always=False),
    page("admin:evaluation_*", "permitted", "permitted", always=False),
    page("admin:stereoscope_apitoken_changelist", "staff", "staff"),
    page("admin:stereoscope_apitoken_add", "staff", "staff"),
    page("admin:stereoscope_apitoken_*", "owns", "owns", always=False),
)
#: Sent from another site these act all the same: they act for nobody who is signed in.
WITHOUT_CSRF = ("survey:*", "panels:events", "-")


def find_rule(name: str) -> Rule | None:
    return next((rule for rule in RULES if fnmatchcase(name, rule.names)), None)


def is_allowed(rule: Rule, role: Role, method: str) -> bool:
    """Return whether the rule lets a role look (GET, HEAD) or send (every other method)."""
    is_look = method in {"GET", "HEAD", "OPTIONS"}
    wanted = rule.look if is_look else rule.send
    if wanted == "anyone":
        return True
    if role.scopes:  # a token opens the API alone
        needed = rule.scope if rule.scope != "read" or is_look else "write"
        if not rule.is_json or needed not in role.scopes:
            return False
    return wanted in role.rights
