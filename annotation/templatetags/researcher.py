"""Numbers and states in the words of the researchers' pages."""

from django import template

from annotation.researcher.pages import formatting

register = template.Library()
for name, described in (
    ("agreement", formatting.agreement),
    ("along", formatting.along),
    ("checks_passed", formatting.checks_passed),
    ("day", formatting.coarse_day),
    ("duration", formatting.duration),
    ("interval", formatting.interval),
    ("mean", formatting.mean),
    ("money", formatting.money),
    ("per_thousand", formatting.per_thousand),
    ("percent", formatting.percent),
    ("proposal_badge", formatting.proposal_badge),
    ("submission_badge", formatting.submission_badge),
    ("thousands", formatting.thousands),
):
    register.filter(name, described)
