"""Researchers' pages of runs: who may see and steer, what they show, and what the form refuses."""

from __future__ import annotations

import csv
import re
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.library.abc_model import TRAIT_PAIRS
from annotation.models import TraitPair
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, Prompt, Run, RunStatus, Score, ShardStatus
from probing.runs.control import cancel_run
from probing.runs.failure import fail_shard
from probing.runs.language_models import register_model
from probing.runs.leases import claim_shard
from probing.runs.stimuli import DEFAULT_GROUPS
from probing.runs.worker import work
from tests.annotation.studies.people import make_study
from tests.probing.runs.fixtures import (  # noqa: F401
    RunMaker,
    bert,
    make_run,
    one_thread,
)

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.fixture
def alice(client: Client) -> Client:
    """May everything."""
    client.force_login(User.objects.create_superuser("alice"))
    return client


@pytest.fixture
def bob() -> Client:
    """Is staff and may look at runs, not change them."""
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def charlie() -> Client:
    """Is staff without any permission for runs."""
    client = Client()
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    return client


def page(name: str, run: Run) -> str:
    return reverse(f"admin:probing_run_{name}", args=[run.pk])


def asked(model: LanguageModel, **changes: Any) -> dict[str, Any]:
    """The form as a browser sends it after choosing a model and one group."""
    return {
        "model": model.pk,
        "groups": [],
        "single_groups": ["man", "woman"],
        "templates": ["cao-2022-best-roberta"],
        "single_templates": [],
        "seed": "3",
        "parameter_prior": "mask",
        "parameter_adjectives": "pole",
        "parameter_list_average": "mean",
        "parameter_groups_per_shard": "5",
        "parameter_gamma": "1.0",
        "parameter_bias": "append",
        "parameter_subword": "max_change",
        "parameter_slot": "replaced",
        "parameter_variant": "paper",
        **changes,
    }


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["change", "live", "scores", "log"])
def test_pages_are_for_staff_with_the_permission(
    name: str,
    make_run: RunMaker,  # noqa: F811
    bob: Client,
    charlie: Client,
) -> None:
    run = make_run()
    assert bob.get(page(name, run)).status_code == 200
    assert charlie.get(page(name, run)).status_code == 403
    stranger = Client().get(page(name, run))
    assert stranger.status_code == 302
    assert "login" in stranger["Location"]


@pytest.mark.parametrize("name", ["cancel", "resume"])
def test_only_who_may_change_runs_steers_them(
    name: str,
    make_run: RunMaker,  # noqa: F811
    bob: Client,
    charlie: Client,
) -> None:
    run = make_run()
    for outsider in (bob, charlie):
        assert outsider.post(page(name, run)).status_code == 403
    run.refresh_from_db()
    assert run.status == RunStatus.WAITING
    assert b"Cancel run" not in bob.get(page("change", run)).content


def test_only_who_may_add_runs_creates_them(bert: LanguageModel, bob: Client) -> None:  # noqa: F811
    assert bob.get(reverse("admin:probing_run_add")).status_code == 403
    answer = bob.post(reverse("admin:probing_run_add"), {**asked(bert), "create": "1"})
    assert answer.status_code == 403
    assert not Run.objects.exists()


def test_runs_are_steered_by_post_alone(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    assert alice.get(page("cancel", run)).status_code == 405
    run.refresh_from_db()
    assert run.status == RunStatus.WAITING


@pytest.mark.parametrize("name", ["change", "live", "cancel", "scores"])
def test_a_run_that_does_not_exist_is_not_found(name: str, alice: Client) -> None:
    address = reverse(f"admin:probing_run_{name}", args=[987654])
    assert alice.post(address).status_code == 404


def test_a_run_is_never_deleted_here(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    address = reverse("admin:probing_run_delete", args=[run.pk])
    assert alice.post(address, {"post": "yes"}).status_code == 403
    assert Run.objects.filter(pk=run.pk).exists()


# --- the monitor ----------------------------------------------------------------------------------


def test_cancel_and_resume_from_the_page(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    answer = alice.post(page("cancel", run), follow=True)
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELED
    assert b"Resume run" in answer.content
    answer = alice.post(page("resume", run), follow=True)
    run.refresh_from_db()
    assert run.status == RunStatus.WAITING
    assert b"Cancel run" in answer.content


def test_steering_a_finished_run_says_why_not(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    work(worker="w", run=run)
    answer = alice.post(page("cancel", run), follow=True)
    assert b"nothing to cancel" in answer.content


def test_the_live_part_tells_whether_to_ask_again(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    assert b'data-live-on="true"' in alice.get(page("live", run)).content
    cancel_run(run=run)
    answer = alice.get(page("live", run))
    assert b'data-live-on="false"' in answer.content
    assert "no-store" in answer["Cache-Control"]


def test_every_shard_is_drawn(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    claim_shard(worker="w")
    content = alice.get(page("live", run)).content.decode()
    drawing = content.split('<svg class="drawing"')[1].split("</svg>")[0]
    assert drawing.count("<rect") == run.shard_count == 8
    assert drawing.count("mark-outline") == 1
    assert drawing.count("mark-open") == 7


def test_a_finished_run_shows_its_scores(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    work(worker="w", run=run)
    content = alice.get(page("change", run)).content.decode()
    for score in Score.objects.filter(run=run, template=""):
        shown = f"{score.value:+.2f}".replace("-", "−")
        assert (shown if shown[1:] != "0.00" else "0.00") in content
    assert "teenagers" in content
    assert "meaningless" not in content


def test_a_mean_over_fewer_templates_is_marked(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    work(worker="w", run=run)
    assert "fewer templates" not in alice.get(page("change", run)).content.decode()
    score = Score.objects.filter(run=run, template="").first()
    templates = score.n
    Score.objects.filter(pk=score.pk).update(value=1.25, n=templates - 1)
    content = alice.get(page("change", run)).content.decode()
    assert f'title="mean over {templates - 1} of {templates} templates">+1.25*<' in content
    assert "1 mean, with a star, rests on fewer templates" in content


def test_scores_of_the_demo_model_are_called_meaningless(
    make_run: RunMaker,  # noqa: F811
    alice: Client,
) -> None:
    run = make_run()
    LanguageModel.objects.filter(pk=run.model_id).update(is_demo=True)
    work(worker="w", run=run)
    assert b"These scores are meaningless" in alice.get(page("change", run)).content
    assert b"meaningless" in alice.get(reverse("admin:probing_run_changelist")).content
    lines = list(csv.DictReader(StringIO(read(alice, page("scores", run)))))
    assert {line["meaningless"] for line in lines} == {"yes"}


def test_the_traceback_of_a_shard_is_escaped_on_the_page(
    make_run: RunMaker,  # noqa: F811
    alice: Client,
) -> None:
    run = make_run()
    shard = claim_shard(worker="w")
    assert shard is not None
    fail_shard(shard=shard, error="Traceback\n<script>alert(1)</script>")
    content = alice.get(page("change", run)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in content
    assert "<script>alert(1)" not in content


def read(client: Client, address: str) -> str:
    """Return the text of a streamed answer."""
    return b"".join(client.get(address).streaming_content).decode()  # type: ignore[attr-defined]


def test_the_csv_holds_every_score_to_the_last_bit(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    work(worker="w", run=run)
    lines = list(csv.DictReader(StringIO(read(alice, page("scores", run)))))
    found = {(r["group"], r["trait"], r["template"]): float(r["value"]) for r in lines}
    stored = {
        (score.group, score.trait, score.template): score.value
        for score in Score.objects.filter(run=run)
    }
    assert found == stored


def test_cells_that_a_spreadsheet_would_run_are_neutralized(
    make_run: RunMaker,  # noqa: F811
    alice: Client,
) -> None:
    run = make_run()
    LanguageModel.objects.filter(pk=run.model_id).update(name="=1+1")
    Score.objects.create(run=run, name="pair_score", group="g", trait="t", value=-0.5, n=1)
    (line,) = csv.DictReader(StringIO(read(alice, page("scores", run))))
    assert line["model"] == "'=1+1"
    assert line["value"] == "-0.5", "a number stays a number"


def test_the_log_can_be_read_and_downloaded(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    run = make_run()
    work(worker="w", run=run)
    text = read(alice, page("log", run))
    assert len(text.splitlines()) == run.events.count()
    assert "planned 8 shards" in text.splitlines()[-1]
    download = alice.get(page("log", run) + "?download")
    assert "attachment" in download["Content-Disposition"]


@pytest.mark.parametrize("groups", [2, 25])
def test_the_page_costs_the_same_for_every_size(
    groups: int,
    make_run: RunMaker,  # noqa: F811
    alice: Client,
    django_assert_max_num_queries: Any,
) -> None:
    from probing.runs.stimuli import load_stimuli

    names = ["man", "woman"] if groups == 2 else "cao-2022-human-study"
    run = make_run(stimuli=load_stimuli(groups=names, templates=["that-group-is-trait"]))
    work(worker="w", run=run)
    alice.get(page("change", run))
    # Eight of the progress, the scores, the run and its state; the rest is session and user.
    with django_assert_max_num_queries(16):
        alice.get(page("change", run))


def test_the_list_shows_progress_in_a_fixed_number_of_queries(
    make_run: RunMaker,  # noqa: F811
    alice: Client,
    django_assert_max_num_queries: Any,
) -> None:
    for _ in range(4):
        run = make_run()
    work(worker="w", run=run)
    address = reverse("admin:probing_run_changelist")
    alice.get(address)
    with django_assert_max_num_queries(12):
        content = alice.get(address).content.decode()
    assert content.count("of 8") == 4
    assert "Finished" in content


# --- the form -------------------------------------------------------------------------------------


def test_a_preview_tells_the_cost_and_stores_nothing(bert: LanguageModel, alice: Client) -> None:  # noqa: F811
    address = reverse("admin:probing_run_add") + "?measure=set"
    content = alice.post(address, {**asked(bert), "preview": "1"}).content.decode()
    assert "Forward passes" in content
    assert "Create run" in content
    assert not Run.objects.exists()


def test_creating_leads_to_the_monitor(bert: LanguageModel, alice: Client) -> None:  # noqa: F811
    address = reverse("admin:probing_run_add") + "?measure=set"
    answer = alice.post(address, {**asked(bert, parameter_gamma="0.5"), "create": "1"})
    run = Run.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == page("change", run)
    assert run.created_by is not None
    assert run.created_by.get_username() == "alice"
    assert run.seed == 3
    assert run.parameters["gamma"] == 0.5
    assert [group["slug"] for group in run.stimuli["groups"]] == ["man", "woman"]
    assert run.shards.filter(status=ShardStatus.PENDING).count() == 1


def test_a_run_takes_the_chosen_trait_pairs_or_all_of_them(
    bert: LanguageModel,  # noqa: F811
    alice: Client,
) -> None:
    address = reverse("admin:probing_run_add") + "?measure=set"
    alice.post(address, {**asked(bert, traits=["cold-warm", "poor-wealthy"]), "create": "1"})
    run = Run.objects.get()
    assert [trait["slug"] for trait in run.stimuli["traits"]] == ["cold-warm", "poor-wealthy"]
    answer = alice.post(address, {**asked(bert, traits=["hot-warm"]), "create": "1"})
    assert "hot-warm is not one of the available choices" in answer.content.decode()
    alice.post(address, {**asked(bert), "create": "1"})
    newest = Run.objects.order_by("-pk")[0]
    assert len(newest.stimuli["traits"]) == 16


def test_every_measure_has_a_form_from_its_schema(bert: LanguageModel, alice: Client) -> None:  # noqa: F811
    from probing.measures.registry import MEASURES

    for name, measure in MEASURES.items():
        content = alice.get(reverse("admin:probing_run_add") + f"?measure={name}").content.decode()
        for parameter in measure.Parameters.model_fields:
            assert f'name="parameter_{parameter}"' in content


def test_the_page_takes_the_prior_noun_for_a_causal_model(
    checkpoints: Path,
    alice: Client,
) -> None:
    """The page sends the untouched prior, the mask; it is not a choice."""
    form = asked(register_model(location=str(checkpoints / "tiny-gpt2")))
    form |= {"templates": [], "single_templates": ["that-group-is-trait"], "parameter_renorm": ""}
    address = reverse("admin:probing_run_add") + "?measure=ilps_star"
    said = alice.post(address, {**form, "preview": "1"}).content.decode()
    assert "is compared with the prior noun" in unescape(said)
    alice.post(address, {**form, "create": "1"})
    assert Run.objects.get().parameters["prior"] == "noun"


def test_a_parameter_without_a_value_is_stored_as_none(bert: LanguageModel, alice: Client) -> None:  # noqa: F811
    form = {name: value for name, value in asked(bert).items() if not name.startswith("parameter")}
    form |= {"parameter_prior": "noun", "parameter_groups_per_shard": "1", "parameter_renorm": ""}
    form |= {"parameter_adjectives": "pole", "parameter_list_average": "mean"}
    form |= {"parameter_slot": "replaced"}
    alice.post(reverse("admin:probing_run_add") + "?measure=ilps_star", {**form, "create": "1"})
    assert Run.objects.get().parameters == {
        "prior": "noun",
        "adjectives": "pole",
        "list_average": "mean",
        "groups_per_shard": 1,
        "renorm": None,
        "slot": "replaced",
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"parameter_gamma": "-2"}, "greater than 0"),
        ({"parameter_gamma": "wide"}, "wide"),
        ({"parameter_prior": "nothing"}, "nothing"),
        ({"parameter_groups_per_shard": "0"}, "greater than or equal to 1"),
        ({"single_groups": []}, "No groups are chosen"),
        ({"templates": []}, "No templates are chosen"),
        ({"single_groups": ["womn"]}, "womn"),
        ({"model": "99999"}, "not registered"),
        ({"seed": "-1"}, "greater than or equal to 0"),
        ({"parameter_variant": "released", "parameter_subword": "max_score"}, "released variant"),
    ],
)
@pytest.mark.parametrize("button", ["preview", "create"])
def test_bad_input_is_named_on_the_page_and_nothing_is_stored(
    bert: LanguageModel,  # noqa: F811
    alice: Client,
    changes: dict[str, Any],
    said: str,
    button: str,
) -> None:
    address = reverse("admin:probing_run_add") + "?measure=set"
    answer = alice.post(address, {**asked(bert), **changes, button: "1"})
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not Run.objects.exists()


def test_a_model_whose_folder_is_gone_is_named(bert: LanguageModel, alice: Client) -> None:  # noqa: F811
    LanguageModel.objects.filter(pk=bert.pk).update(location="/gone/away")
    address = reverse("admin:probing_run_add") + "?measure=set"
    for button in ("preview", "create"):
        content = alice.post(address, {**asked(bert), button: "1"}).content.decode()
        assert "/gone/away" in content
    assert not Run.objects.exists()


def test_groups_and_trait_pairs_come_from_one_study_or_from_the_library(
    bert: LanguageModel,  # noqa: F811
    alice: Client,
) -> None:
    """Neither the newest study nor what somebody adds to the library changes what is ticked."""
    study = make_study(owner=User.objects.get(username="alice"), launched=False)
    instrument = study.instruments.get()
    instrument.groups.exclude(pk__in=instrument.groups.values("pk")[:3]).delete()
    instrument.scales.exclude(pk__in=instrument.scales.values("pk")[:2]).delete()
    TraitPair.objects.create(
        slug="late-early", low="late", high="early", dimension="agency", position=99
    )
    address = f"{reverse('admin:probing_run_add')}?measure=set"
    page = alice.get(address)
    form = page.context["form"]
    assert "Groups and trait pairs of Cao et al. (2022), from the library" in page.content.decode()
    assert (form["groups"].value(), form["single_groups"].value()) == ([DEFAULT_GROUPS], [])
    assert form["traits"].value() == [pair.slug for pair in TRAIT_PAIRS]
    assert "late-early" in dict(form.fields["traits"].choices)

    of_study = f"{address}&study={study.pk}"
    assert f"study={study.pk}" in page.content.decode()
    form = alice.get(of_study).context["form"]
    assert form["groups"].value() == []
    assert len(form["single_groups"].value()) == 3
    assert set(form["traits"].value()) == set(instrument.scales.values_list("slug", flat=True))
    named = f"Groups and trait pairs of the study “{study.title}”"
    for shown in (alice.get(of_study), alice.post(of_study, {**asked(bert), "preview": "1"})):
        assert shown.content.decode().count(named) == 1
    # Without any, a run takes the sixteen pairs and not what was added.
    tried = alice.post(address, {**asked(bert), "preview": "1"}).content.decode()
    assert "It takes 16 of 17 pairs of traits." in tried


def test_measures_are_chosen_by_what_they_ask(alice: Client) -> None:
    page = alice.get(f"{reverse('admin:probing_run_add')}?measure=matched_guise")
    subjects = page.context["subjects"]
    assert [subject.name for subject, _found in subjects] == [
        "GROUPS",
        "SPEAKERS",
        "COUNTERPARTS",
        "CLASSIFIERS",
    ]
    listed = [measure.name for _subject, found in subjects for measure, _about in found]
    assert sorted(listed) == sorted(MEASURES)
    assert all(about.endswith(".") for _subject, found in subjects for _measure, about in found)
    shown = page.content.decode()
    assert shown.count('<details name="subject" open>') == 1
    assert 'aria-current="page">Matched guise probing</a>' in shown


def test_prompts_are_one_line_for_each_purpose_ticked_as_they_will_be_used(alice: Client) -> None:
    n = Prompt.objects.filter(purpose="traits").count()
    Prompt.objects.create(slug="late", text="{text}: the speaker is", purpose="traits")
    address = f"{reverse('admin:probing_run_add')}?measure=matched_guise"
    page = alice.get(address)
    shown = page.content.decode()
    assert shown.count('class="prompt-line"') == 6
    assert 'value="late"' in shown
    # What somebody adds is offered, and no part of the purpose.
    assert re.search(rf"Guises: traits of the speaker, {n} prompts", shown)
    assert page.context["form"]["prompts"].value() == ["traits"]
    # Untouched, the tick follows the attributes; names of groups have prompts of their own.
    for sent, ticked in (
        ({"prompts": ["traits"], "attribute_list": "guilt"}, ["guilt"]),
        ({"prompts": [], "attribute_list": "guilt"}, ["guilt"]),
        ({"prompts": ["traits"], "terms": "Black/White"}, ["overt"]),
        ({"prompts": ["intelligence"], "attribute_list": "guilt"}, ["intelligence"]),
    ):
        form = alice.post(address, {**sent, "seed": "0", "preview": "1"}).context["form"]
        assert form["prompts"].value() == ticked


def test_chosen_runs_are_canceled_and_resumed(make_run: RunMaker, alice: Client) -> None:  # noqa: F811
    runs = [make_run(), make_run()]
    address = reverse("admin:probing_run_changelist")

    def choose(action: str) -> tuple[str, list[str]]:
        sent = {"action": action, "_selected_action": [run.pk for run in runs]}
        page = alice.post(address, sent, follow=True).content.decode()
        return page, list(Run.objects.values_list("status", flat=True))

    page, states = choose("cancel_selected")
    assert "Canceled: 2." in page
    assert states == ["cancelled"] * 2
    Run.objects.filter(pk=runs[0].pk).update(status="finished")
    page, _states = choose("resume_selected")
    assert "Resumed: 1." in page
    assert "there is nothing to resume" in page


def test_a_run_names_its_parameters_in_words(alice: Client, make_run: RunMaker) -> None:  # noqa: F811
    run = make_run()
    shown = alice.get(reverse("admin:probing_run_change", args=[run.pk])).context["parameters"]
    words = dict(shown)
    assert "largest change" in words.values()
    assert not {"released_lists", "max_change"} & {*words, *words.values()}


def test_a_failed_run_says_what_is_kept(alice: Client, make_run: RunMaker) -> None:  # noqa: F811
    run = make_run()
    page = reverse("admin:probing_run_change", args=[run.pk])
    error = "Loading failed.\n\nprobing.lm.errors.ModelNotFoundError: There is no folder."
    Run.objects.update(status="failed", error=error)
    shown = alice.get(page)
    assert "Nothing was stored; Resume begins again." in shown.content.decode()
    assert shown.context["last_error_line"] == "There is no folder."
    run.shards.filter(pk=run.shards.first().pk).update(
        status="stored", stored_at=timezone.now(), lease_until=None, result=b"-"
    )
    assert "The 1 stored shard stays; Resume" in alice.get(page).content.decode()


def test_values_of_parameters_are_shown_in_words(alice: Client) -> None:
    shown = alice.get(f"{reverse('admin:probing_run_add')}?measure=set").content.decode()
    for value, words in {
        "mask": "the group phrase masked",
        "append": "may change as well",
        "released_lists": "released lists",
        "max_change": "largest change",
    }.items():
        assert re.search(rf'<option value="{value}"[^>]*>\s*{words}\s*</option>', shown)
        assert "_" not in value or shown.count(value) == 1
