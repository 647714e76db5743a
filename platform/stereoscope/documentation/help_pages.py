"""Which page of the documentation helps on which page of the program."""

from __future__ import annotations

START = "index.html"
ACCOUNTS = "operations/accounts.html"
#: Beginning of an address's name → page; the longest beginning decides.
PAGES = {
    "admin:index": "first-hour.html",
    "admin:annotation_study": "studies/index.html",
    "admin:annotation_study_add": "studies/group-ratings.html",
    "admin:annotation_study_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_study_change": "studies/group-ratings.html",
    "admin:annotation_study_changelist": "studies/index.html",
    "admin:annotation_study_instrument": "study-designer.html",
    "admin:annotation_study_export": "exports.html",
    "admin:annotation_study_margins": "dashboard.html#targets",
    "admin:annotation_study_money": "studies/group-ratings.html#what-you-decide",
    "admin:annotation_study_overview": "dashboard.html",
    "admin:annotation_study_panel": "studies/group-ratings.html#what-you-decide",
    "admin:annotation_study_colleagues": "colleagues.html",
    "admin:annotation_study_join": "colleagues.html#inviting",
    "admin:annotation_team": "colleagues.html#teams",
    "admin:annotation_guise": "guise-ratings.html",
    "admin:annotation_instrument": "study-designer.html",
    "admin:annotation_instrument_languages": "languages.html",
    "admin:annotation_submission": "quality.html",
    "admin:annotation_writingstudy": "studies/writing.html",
    "admin:annotation_writingstudy_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_writingstudy_colleagues": "colleagues.html",
    "admin:annotation_judgmentstudy": "studies/judging.html",
    "admin:annotation_judgmentstudy_colleagues": "colleagues.html",
    "admin:annotation_judgmentstudy_audit": f"{ACCOUNTS}#the-audit-log",
    "admin:annotation_corpus": "studies/writing.html",
    "admin:annotation_groupset": "stimuli.html",
    "admin:annotation_libraryquestion": "study-designer.html#a-library-of-questions",
    "admin:annotation_socialgroup": "stimuli.html",
    "admin:annotation_traitpair": "stimuli.html",
    "admin:annotation_groupexclusion": "stimuli.html",
    "admin:probing_run": "measures.html",
    "admin:probing_run_import": "imports.html",
    "admin:probing_languagemodel": "measures.html",
    "admin:probing_template": "stimuli.html",
    "admin:probing_wordlist": "stimuli.html#word-lists",
    "admin:probing_prompt": "matched-guise.html#2-prompts-and-attributes",
    "admin:probing_labelledtemplateset": "fpr-gaps.html#1-sentences",
    "admin:probing_grouplexicon": "fpr-gaps.html#1-sentences",
    "admin:probing_labelledtextset": "fpr-gaps.html#a-classifier-of-our-own",
    "admin:evaluation_report": "reports.html",
    "admin:evaluation_norm": "matched-guise.html#3-norms",
    "admin:auth": ACCOUNTS,
    "admin:axes": f"{ACCOUNTS}#when-something-is-locked",
    "admin:stereoscope_apitoken": f"{ACCOUNTS}#api-tokens",
    "health": "deployment.html#health",
    "security": f"{ACCOUNTS}#a-second-factor",
    "second-factor": f"{ACCOUNTS}#a-second-factor",
    "reports:": "reports.html",
    "reproduction": "reproductions.html",
}


def find_help_page(name: str) -> str:
    """Return the page, perhaps with an anchor, for the address of that name."""
    known = [start for start in PAGES if name.startswith(start)]
    return PAGES[max(known, key=len)] if known else START
