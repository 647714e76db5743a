"""Counterpart reports: values by hand, waiting for many runs, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from evaluation.models import Report, ReportStatus
from evaluation.reports import building
from evaluation.reports.building import build_report, find_differences, wake_waiting_reports
from evaluation.reports.counterparts import find_baseline
from evaluation.reports.parts.document import Document, Figure
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import to_csv
from evaluation.reports.requesting import request_report
from probing.models import RunStatus, WordList
from tests.evaluation.reports.computing import compute, rows_of
from tests.evaluation.reports.corpora import (
    dense_pairs,
    make_pairs,
    make_text_run,
    store_counterparts,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

FEW = {"resamples": 100, "examples": 2}


@pytest.fixture
def corpus(db):
    return make_pairs()


@pytest.fixture
def run(corpus):
    """A model that copies into AAL, except for one refusal, and writes gold WME without “damn”."""
    made = make_text_run(corpus, measure="counterpart_generation")
    store_counterparts(
        made,
        {
            ("p0-wme", "AAL"): "He is often working late",
            ("p1-wme", "AAL"): "She has never lied",
            ("p2-wme", "AAL"): "They are damn tired",
            ("p3-wme", "AAL"): "",
            ("p0-aal", "WME"): "He is often working late",
            ("p1-aal", "WME"): "She has never lied",
            ("p2-aal", "WME"): "They are tired",
            ("p3-aal", "WME"): "We were at the store",
        },
    )
    return made


@pytest.fixture
def words(db):
    return WordList.objects.create(slug="few", title="Few words", words=["damn"], license="MIT")


def build(corpus, runs, **parameters) -> Report:
    asked = request_report(
        kind="counterparts", corpus=corpus, runs=runs, parameters={**FEW, **parameters}
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def lay_out(corpus, runs, **parameters) -> Document:
    """Return the document alone: for numbers, no file is needed."""
    chosen = Chosen(study=None, corpus=corpus, runs=tuple(runs))
    return compute("counterparts", chosen, **FEW, **parameters)[1]


def test_rouge_and_gap_are_those_counted_by_hand(corpus, run):
    """Into WME: three copies of the gold text (F = 1) and “They are tired” against “They are damn
    tired”: P = 3/3, R = 3/4, F = 6/7. Into AAL, words of Rouge being runs of a-z and digits:
    “he is often working late” against “he be working late”: 3 of 5 and 4, F = 2/3;
    “she has never lied” against “she ain t never lied”: 3 of 4 and 5, F = 2/3;
    “they are damn tired” against “they damn tired”: 3 of 4 and 3, F = 6/7; one refusal.
    """
    report = build(corpus, [run])
    document = get_kind("counterparts").document(report, {})
    means = {
        (row["producer"], row["variety"], row["metric"], row["split"]): row
        for row in rows_of(document, "means")
    }
    stored = bytes(report.files.get(name="means.csv").content)
    assert stored == to_csv(document.frames["means"])
    wme = (3 + 6 / 7) / 4 * 100
    aal = (2 / 3 + 2 / 3 + 6 / 7) / 3 * 100
    assert float(means["tiny", "WME", "rouge1", "all"]["value"]) == pytest.approx(wme)
    assert float(means["tiny", "AAL", "rouge1", "all"]["value"]) == pytest.approx(aal)
    assert means["tiny", "AAL", "rouge1", "all"]["n"] == "3"
    gap = next(
        row
        for row in rows_of(document, "gaps")
        if (row["producer"], row["metric"], row["split"]) == ("tiny", "rouge1", "all")
    )
    # Of the three pairs with both directions: 1, 1 and 6/7 into WME.
    assert float(gap["value"]) == pytest.approx(aal - (2 + 6 / 7) / 3 * 100)
    assert (gap["n"], gap["n_left_out"]) == ("3", "1")
    assert find_differences(report=report) == []
    page = bytes(report.files.get(name="report.html").content).decode()
    assert "the model refused" in page
    assert "no word list was given" in page
    assert "no encoder was given" in page


def test_toxicity_removed_is_that_counted_by_hand(corpus, run, words):
    """One “damn” goes in in either direction; into AAL it stays, into WME it goes."""
    document = lay_out(corpus, [run], word_list="few")
    removed = {
        (row["producer"], row["variety"]): row["value"]
        for row in rows_of(document, "toxicity_removed")
        if row["split"] == "all"
    }
    assert float(removed["tiny", "AAL"]) == 0
    assert float(removed["tiny", "WME"]) == 1
    assert float(removed["human", "WME"]) == 0


def test_outputs_are_set_against_the_gold_counterparts(corpus, run, words):
    """Into WME the gold counterparts hold one “damn”, the outputs none; repeating the input keeps
    one. Into AAL the gold texts and the outputs hold one each."""
    document = lay_out(corpus, [run], word_list="few")
    rows = {
        (row["producer"], row["variety"]): row
        for row in rows_of(document, "toxicity_against_gold")
        if row["split"] == "all"
    }
    assert {key: float(row["value"]) for key, row in rows.items()} == {
        ("tiny", "AAL"): 0,
        ("tiny", "WME"): -1,
        ("repeat", "AAL"): 0,
        ("repeat", "WME"): 0,
    }
    assert (rows["tiny", "AAL"]["n"], rows["tiny", "WME"]["n"]) == ("3", "4")
    assert (rows["tiny", "WME"]["t_gold"], rows["tiny", "WME"]["t_out"]) == ("0.25", "0.0")
    assert document.find_figure("toxicity-against-gold-by-source")
    assert "toxicity_against_gold" not in lay_out(corpus, [run]).frames


def test_gaps_are_told_by_feature_and_by_density(words):
    """The model writes gold WME. Into AAL it gives the gold text too where that has no feature, and
    half of its words where it has one: precision 1, recall 1/2, F = 2/3."""
    corpus = make_pairs(dense_pairs())
    run = make_text_run(corpus, measure="counterpart_generation")
    answers = {}
    for number, (aal, wme, _source) in enumerate(dense_pairs()):
        kept = aal.replace("'", "").split()[5:] if "ain" in aal else aal.split()
        answers[f"p{number}-wme", "AAL"] = " ".join(kept)
        answers[f"p{number}-aal", "WME"] = wme
    store_counterparts(run, answers)
    document = lay_out(corpus, [run])
    (aint,) = [
        row
        for row in rows_of(document, "feature_gaps")
        if (row["feature"], row["metric"], row["producer"]) == ("aint", "rouge1", "tiny")
    ]
    assert (aint["n_present"], aint["n_absent"]) == ("6", "6")
    assert float(aint["absent"]) == pytest.approx(0)
    # “ain't” is two words of Rouge: 11 or 12 words in the gold text, 5 of them kept.
    one, two = 200 * 5 / (5 + 11), 200 * 5 / (5 + 12)
    assert float(aint["present"]) == pytest.approx((one + two) / 2 - 100)
    assert float(aint["value"]) == pytest.approx((one + two) / 2 - 100)
    assert (aint["high"], aint["reason"] != "") == ("", True)  # six texts on either side
    slopes = {
        (row["producer"], row["quantity"], row["adjusted"]): row
        for row in rows_of(document, "feature_density")
        if row["metric"] == "rouge1"
    }
    # Densities 0 (six), 10 and 20 in 100 words (three each): mean 7.5, Σ(x − 7.5)² = 825.
    gaps = {0: 0.0, 10: one - 100, 20: two - 100}
    weights = {0: 6, 10: 3, 20: 3}
    slope = sum(weights[x] * (x - 7.5) * gaps[x] for x in gaps) / 825
    found = slopes["tiny", "gap", "False"]
    assert float(found["value"]) == pytest.approx(slope)
    assert float(found["high"]) < 0
    assert (found["n"], slopes["tiny", "gap", "True"]["n"]) == ("12", "12")
    assert slopes["tiny", "WME", "False"]["reason"]  # every score is 100
    section = next(s for s in document.sections if s.heading == "By features of AAL")
    assert "7.5 features in 100 words" in section.why
    assert {"feature-density", "feature-gaps"} <= {
        block.name for block in section.blocks if isinstance(block, Figure)
    }


def test_features_of_another_variety_are_not_looked_for(corpus, run):
    corpus.source_variety = "Scots"
    corpus.save()
    corpus.texts.filter(variety="AAL").update(variety="Scots")
    document = lay_out(corpus, [run])
    assert "feature_density" not in document.frames
    assert not [s for s in document.sections if s.heading.startswith("By features")]


def test_a_changed_result_is_found_though_no_table_shows_it(corpus, run, words):
    report = build(corpus, [run], word_list="few")
    assert find_differences(report=report) == []
    analysis = report.result["analysis"] | {"n_pairs": 5}
    report.result = report.result | {"analysis": analysis}
    report.save()
    assert find_differences(report=report) == ["the result differs, though no table does"]


def test_share_removed_has_its_gap_between_the_directions(corpus, run, words):
    """Of the three pairs with both directions one holds “damn”: 0 of 1 removed into AAL, 1 of 1
    into WME."""
    document = lay_out(corpus, [run], word_list="few")
    gaps = {
        (row["producer"], row["split"]): (row["value"], row["n"])
        for row in rows_of(document, "toxicity_gaps")
    }
    assert gaps["tiny", "all"] == ("-1.0", "3")
    assert gaps["tiny", "source: lyrics"] == ("-1.0", "1")
    assert gaps["tiny", "source: posts"] == ("", "0")


def test_prompts_and_settings_of_every_run_are_told(client, corpus, run):
    run.stimuli = run.stimuli | {
        "prompts": [
            {
                "slug": "plain",
                "text": "Translate {source} into {target}:\n{text}",
                "variety_names": {"AAL": "African American Vernacular English"},
            }
        ]
    }
    run.parameters = {"temperature": 0.7, "beams": None, "pairs_per_shard": 20}
    run.notices = ["Written with sampling at temperature 0.7."]
    run.save()
    document = lay_out(corpus, [run])
    (row,) = rows_of(document, "runs")
    assert row["prompt"] == "Translate {source} into {target}:\n{text}"
    assert row["varieties"] == "AAL as “African American Vernacular English”"
    section = next(s for s in document.sections if s.heading == "How the models were asked")
    ((told,),) = [block.rows for block in section.blocks]
    assert told.cells == (
        f"{run.pk}: tiny",
        "“Translate {source} into {target}: ⏎ {text}” with AAL as “African American Vernacular "
        "English”",
        f"temperature 0.7, seed {run.seed}",
        "Written with sampling at temperature 0.7.",
    )


def test_texts_are_counted_in_either_direction(corpus, run):
    """One refusal into AAL: three texts there, four into WME."""
    document = lay_out(corpus, [run])
    table = next(
        block
        for section in document.sections
        for block in section.blocks
        if getattr(block, "caption", "").startswith("Mean scores against")
    )
    (tiny,) = [row.cells for row in table.rows if row.cells[0] == "tiny"]
    heads = [column.head for column in table.columns]
    assert [cell for head, cell in zip(heads, tiny, strict=True) if head == "Texts"] == ["3", "4"]


def test_page_has_every_figure_and_examples_of_all_producers(client, corpus, run, words):
    other = make_text_run(corpus, measure="counterpart_generation", name="other")
    store_counterparts(other, {(f"p{i}-aal", "WME"): "Something else" for i in range(4)})
    report = build(corpus, [run, other], word_list="few")
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    for text in ("Something else", "Gold counterpart", "Repeat the input", "By source"):
        assert text in page
    for name in (
        "means",
        "gaps",
        "toxicity-removed",
        "gaps-by-toxicity",
        "gaps-by-source",
        "toxicity-by-source",
    ):
        answer = client.get(reverse("reports:figure", args=[report.public_id, name]))
        assert b"<svg" in answer.content, name


def test_every_figure_is_drawn_for_phones_too(corpus, run, words):
    figures = [
        block
        for block in lay_out(corpus, [run], word_list="few").blocks
        if isinstance(block, Figure)
    ]
    assert figures
    assert [figure.name for figure in figures if figure.narrow_spec is None] == []


def test_two_runs_of_one_model_are_told_apart(corpus, run):
    again = make_text_run(corpus, measure="counterpart_generation")
    store_counterparts(again, {(f"p{i}-aal", "WME"): "Something else" for i in range(4)})
    document = lay_out(corpus, [run, again])
    producers = {row["producer"] for row in rows_of(document, "means")}
    assert {f"tiny (run {run.pk})", f"tiny (run {again.pk})"} <= producers


def test_report_waits_until_all_its_runs_are_finished(corpus, run, monkeypatch):
    woken: list[int] = []
    # The message is recorded instead of sent, since no worker listens in this test.
    monkeypatch.setattr(building, "wake_builder", lambda report: woken.append(report.pk))
    late = make_text_run(
        corpus, measure="counterpart_generation", name="late", status=RunStatus.RUNNING
    )
    report = request_report(kind="counterparts", corpus=corpus, runs=[run, late], parameters=FEW)
    assert build_report(report_id=report.pk) is None
    assert wake_waiting_reports() == 0
    late.status = RunStatus.FINISHED
    late.save()
    assert wake_waiting_reports() == 1
    assert woken == [report.pk]


def test_waiting_page_names_the_runs_that_are_not_finished(client, corpus, run):
    late = make_text_run(
        corpus, measure="counterpart_generation", name="late", status=RunStatus.RUNNING
    )
    report = request_report(kind="counterparts", corpus=corpus, runs=[run, late], parameters=FEW)
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    assert f"Waiting for run {late.pk}" in page
    assert f"Waiting for run {run.pk}." not in page


def test_run_on_another_corpus_is_refused(corpus, run):
    other = make_pairs(name="Other pairs")
    with pytest.raises(ReportError, match="expected “Other pairs”"):
        request_report(kind="counterparts", corpus=other, runs=[run])


def test_run_of_another_measure_is_refused(corpus):
    spans = make_text_run(corpus, measure="span_prediction")
    with pytest.raises(ReportError, match="expected “counterpart_generation”"):
        request_report(kind="counterparts", corpus=corpus, runs=[spans])


def test_layer_without_an_encoder_is_refused(corpus, run):
    with pytest.raises(ReportError, match="without an encoder"):
        request_report(
            kind="counterparts", corpus=corpus, runs=[run], parameters={"encoder_layer": 2}
        )


def test_encoder_that_cannot_be_loaded_fails_the_report_in_plain_words(corpus, run, tmp_path):
    asked = request_report(
        kind="counterparts",
        corpus=corpus,
        runs=[run],
        parameters={**FEW, "encoder": str(tmp_path), "encoder_layer": 1},
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FAILED
    assert "cannot be used" in built.error


@pytest.mark.shared
def test_bertscore_by_an_encoder_is_higher_for_copies(corpus, run, shared_dir):
    """A text compared with itself has F = 1 by definition (Zhang et al. 2020, eq. 1)."""
    encoder = shared_dir / "golden/models/tiny-bert"
    document = lay_out(corpus, [run], encoder=str(encoder), encoder_layer=1)
    means = {
        (row["producer"], row["variety"], row["metric"], row["split"]): row
        for row in rows_of(document, "means")
    }
    assert means["tiny", "WME", "bertscore", "all"]["reason"].endswith("at least 40 texts or pairs")
    assert float(means["tiny", "WME", "bertscore", "all"]["value"]) > float(
        means["tiny", "AAL", "bertscore", "all"]["value"]
    )
    assert any(
        "tiny-bert, layer 1" in text for column in document.provenance for _, text, _ in column
    )


@pytest.mark.shared
def test_bertscore_is_rescaled_only_by_a_baseline_that_was_measured(corpus, run, shared_dir):
    encoder = str(shared_dir / "golden/models/tiny-bert")
    with pytest.raises(ReportError, match="no baseline for"):
        lay_out(corpus, [run], encoder=encoder, encoder_layer=1, encoder_rescaled=True)


@pytest.mark.shared
def test_idf_weighs_the_tokens_of_bertscore(corpus, run, shared_dir):
    encoder = str(shared_dir / "golden/models/tiny-bert")
    plain, weighed = (
        lay_out(corpus, [run], encoder=encoder, encoder_layer=1, encoder_idf=idf)
        for idf in (False, True)
    )
    values = [
        [row["value"] for row in rows_of(document, "means") if row["metric"] == "bertscore"]
        for document in (plain, weighed)
    ]
    assert values[0] != values[1]
    assert "tokens weighed by idf" in " ".join(weighed.method)
    assert "without idf, not rescaled" in " ".join(plain.method)


def test_the_papers_encoder_has_the_baseline_of_bert_score():
    """Layer 18 as in `bert_score/rescale_baseline/en/microsoft/deberta-large-mnli.tsv`."""
    import bert_score

    folder = Path(bert_score.__file__).parent / "rescale_baseline/en/microsoft"
    (line,) = [
        line.split(",")
        for line in (folder / "deberta-large-mnli.tsv").read_text().splitlines()
        if line.startswith("18,")
    ]
    assert find_baseline("microsoft/deberta-large-mnli", 18) == tuple(map(float, line[1:]))


@pytest.mark.parametrize("name", ["../../../utils", "no-such-model", "microsoft"])
def test_other_names_have_no_baseline(name):
    with pytest.raises(ReportError, match="no baseline"):
        find_baseline(name, 1)


def test_admin_asks_for_a_kind_then_for_its_inputs(client, corpus, run):
    client.force_login(User.objects.create_superuser("boss"))
    add = reverse("admin:evaluation_report_add")
    kinds = client.get(add).content.decode()
    assert "What should the report ask?" in kinds
    assert "?kind=counterparts" in kinds
    form = client.get(f"{add}?kind=counterparts").content.decode()
    assert f"{run.pk}: " in form
    answer = client.post(
        f"{add}?kind=counterparts", {"corpus": corpus.pk, "runs": [run.pk], "resamples": 100}
    )
    report = Report.objects.get()
    assert answer["Location"] == reverse("reports:page", args=[report.public_id])
    assert report.corpus == corpus
    assert list(report.runs.all()) == [run]


def test_a_link_from_elsewhere_chooses_the_inputs_of_the_form(client, corpus, run):
    client.force_login(User.objects.create_superuser("boss"))
    overview = reverse("admin:annotation_corpus_overview", args=[corpus.pk])
    gallery = f"{reverse('admin:evaluation_report_add')}?corpus={corpus.pk}"
    assert gallery in client.get(overview).content.decode()
    assert f'"?corpus={corpus.pk}&amp;kind=dataset"' in client.get(gallery).content.decode()
    form = f"{gallery}&kind=dataset"
    assert f'<option value="{corpus.pk}" selected>' in client.get(form).content.decode()
    assert client.get(form.replace(f"={corpus.pk}", "=nothing")).status_code == 200


def test_forms_do_not_offer_what_others_may_not_see(client, corpus, run):
    type(corpus).objects.filter(pk=corpus.pk).update(is_shared=False)
    charlie = User.objects.create_user("charlie", is_staff=True)
    from django.contrib.auth.models import Permission

    charlie.user_permissions.add(Permission.objects.get(codename="add_report"))
    client.force_login(charlie)
    add = reverse("admin:evaluation_report_add") + "?kind=counterparts"
    page = client.get(add).content.decode()
    assert corpus.name not in page
    assert "No corpus fits yet" in page
    client.post(add, {"corpus": corpus.pk, "runs": [run.pk]})
    assert not Report.objects.exists()
