"""The researchers' pages of corpora: upload, numbers, texts, downloads; who may open them."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import StreamingHttpResponse
from django.test import Client
from django.urls import reverse

from annotation.corpora.corpus_import import import_corpus
from annotation.corpora.features import FEATURE_NAMES, detect_features
from annotation.corpora.summary import summarize_corpus
from annotation.models import Corpus, Study, StudyKind, Text, TextPair, WritingDesign
from annotation.researcher.corpora.pages import FEATURE_LABELS, mark_features
from tests.annotation.studies.people import make_user

pytestmark = pytest.mark.django_db

PAIRS = (
    "id,AAL,WME,source,context,split\n"
    "one,He be <late>,He is usually late,CORAAL,They talk.,\n"
    "two,They ain’t here,They are not here,CORAAL,,training\n"
    "three,It was a lot,There was a lot,,,\n"
)
FACTS = {
    "name": "Small pairs",
    "license": "CC BY 4.0",
    "source_variety": "AAL",
    "target_variety": "WME",
}


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def corpus(alice: User) -> Corpus:
    made = import_corpus(
        content=PAIRS.encode(), file_name="pairs.csv", owner=alice, name="Small", license="CC0"
    ).corpus
    assert made is not None
    return made


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(name: str, *args: object) -> str:
    return reverse(f"admin:annotation_corpus_{name}", args=args)


def upload(client: Client, address: str, content: str | bytes = PAIRS, **values: object):
    raw = content if isinstance(content, bytes) else content.encode()
    file = SimpleUploadedFile("pairs.csv", raw)
    return client.post(address, {**FACTS, "file": file, **values})


def read(response: StreamingHttpResponse) -> str:
    return b"".join(response.streaming_content).decode()  # type: ignore[arg-type]


def test_an_upload_makes_a_corpus_of_ones_own(alice):
    client = log_in(alice)
    answer = upload(client, page("add"), access_note="Researchers only.", is_shared="on")
    corpus = Corpus.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == page("overview", corpus.pk)
    assert (corpus.owner, corpus.is_shared, corpus.access_note) == (
        alice,
        True,
        "Researchers only.",
    )
    assert corpus.pairs.count() == 3
    assert "6 texts and 3 pairs are in “Small pairs”" in client.get(answer["Location"]).text


def test_an_upload_with_bad_rows_shows_every_one_and_stores_nothing(alice):
    answer = upload(
        log_in(alice), page("add"), f"{PAIRS}x,He be <late>,He is usually late,,,\ny,Alone,,,,\n"
    )
    assert answer.status_code == 422
    assert "Nothing was imported: 2 of 5 rows are bad." in answer.text
    assert "the same pair stands on line 2" in answer.text
    assert [str(p.line) for p in answer.context["problems"]] == ["5", "6"]
    assert 'value="Small pairs"' in answer.text  # what was filled in stays
    assert not Corpus.objects.exists()
    assert not Text.objects.exists()


def test_bad_rows_are_left_out_on_demand(alice):
    upload(log_in(alice), page("add"), f"{PAIRS}y,Alone,,,,\n", skip_bad_rows="on")
    assert Corpus.objects.get().pairs.count() == 3


def test_a_check_stores_nothing(alice):
    answer = upload(log_in(alice), page("add"), check="")
    assert answer.status_code == 200
    assert "The file can be imported: 6 texts, 3 pairs." in answer.text
    assert not Corpus.objects.exists()


def test_the_file_of_a_check_is_imported_without_choosing_it_again(alice):
    client = log_in(alice)
    checked = upload(client, page("add"), check="")
    assert "<b>pairs.csv</b> is kept" in checked.text
    assert "choose the file again" not in checked.text
    kept = {name: checked.context["form"].data[name] for name in ("content", "file_name")}
    nameless = client.post(page("add"), {**FACTS, **kept, "name": ""})
    assert nameless.status_code == 422
    assert "<b>pairs.csv</b> is kept" in nameless.text
    client.post(page("add"), {**FACTS, **kept})
    assert Corpus.objects.get().pairs.count() == 3


def test_a_kept_file_that_was_damaged_has_to_be_chosen_again(alice):
    answer = log_in(alice).post(page("add"), {**FACTS, "content": "damaged", "file_name": "a.csv"})
    assert answer.status_code == 422
    assert "This field is required" in answer.text
    assert "is kept" not in answer.text


@pytest.mark.parametrize(
    ("values", "content", "message"),
    [
        ({"name": ""}, PAIRS, "This field is required"),
        ({"name": "Small"}, PAIRS, "A corpus is already called “Small”"),
        ({"target_variety": "AAL"}, PAIRS, "Both varieties are “AAL”, expected two."),
        ({}, "", "The submitted file is empty."),
        ({}, "AAL,other\na,b\n", "The columns are “AAL”, “other”"),
        ({"file": ""}, PAIRS, "This field is required"),
    ],
)
def test_what_is_wrong_stands_at_its_field(corpus, alice, values, content, message):
    answer = upload(log_in(alice), page("add"), content, **values)
    assert answer.status_code == 422
    assert message in answer.text
    assert Corpus.objects.count() == 1


def test_texts_are_added_to_a_corpus(corpus, alice):
    client = log_in(alice)
    more = "text,source\nWe been knew,Lyrics\n"
    answer = client.post(
        page("import", corpus.pk), {"file": SimpleUploadedFile("m.csv", more.encode())}
    )
    assert answer["Location"] == page("overview", corpus.pk)
    assert corpus.texts.get(source="Lyrics").body == "We been knew"
    again = client.post(
        page("import", corpus.pk), {"file": SimpleUploadedFile("m.csv", more.encode())}
    )
    assert "the same text in AAL stands in the corpus already" in again.text


def test_the_overview_counts_by_source_and_by_feature(corpus, alice):
    # By hand: CORAAL has two texts of three words each, in WME four words each; “It was a lot”
    # and “There was a lot” have four. Existential it and habitual be once, ain’t once.
    summary = summarize_corpus(corpus)
    empty, coraal = summary.lines
    assert (empty.source, empty.evaluation, empty.pairs_evaluation) == ("", 1, 1)
    assert (coraal.evaluation, coraal.training, coraal.pairs_training) == (1, 1, 1)
    assert (coraal.source_words, coraal.target_words) == (3, 4)
    assert summary.total.source_words == pytest.approx(10 / 3)
    uses = {line.name: line.source_uses for line in summary.features if line.source_uses}
    assert uses == {"habitual_be": 1, "aint": 1, "existential_it": 1}
    text = log_in(alice).get(page("overview", corpus.pk)).text
    assert "CORAAL" in text
    assert "Without a source" in text
    assert "100.0" in text  # one habitual be in ten words
    assert "Not written yet" in text


def test_counts_are_not_those_of_another_corpus_with_the_same_keys(corpus):
    before = summarize_corpus(corpus)
    content = PAIRS.replace("CORAAL", "Lyrics").encode()
    keys = list(corpus.texts.order_by("pk").values_list("pk", flat=True))
    TextPair.objects.all().delete()
    Text.objects.all().delete()
    Corpus.objects.all().delete()
    made = import_corpus(content=content, file_name="pairs.csv", name="New", license="CC0").corpus
    assert made is not None
    TextPair.objects.all().delete()
    Corpus.objects.filter(pk=made.pk).update(id=corpus.pk)
    for text, key in zip(made.texts.order_by("pk"), keys, strict=True):
        Text.objects.filter(pk=text.pk).update(id=key, corpus_id=corpus.pk)
    after = summarize_corpus(Corpus.objects.get())
    assert [line.source for line in after.lines] == ["", "Lyrics"]
    assert after.lines[1].source_words == before.lines[1].source_words == 3


def test_other_varieties_have_no_table_of_features(alice):
    corpus = import_corpus(
        content=b"text\nYa me voy\n",
        file_name="t.csv",
        name="Other",
        license="CC0",
        source_variety="es-MX",
        target_variety="es-ES",
        owner=alice,
    ).corpus
    assert corpus is not None
    assert summarize_corpus(corpus).features == ()
    client = log_in(alice)
    assert "Features of AAL" not in client.get(page("overview", corpus.pk)).text
    assert "search pattern" not in client.get(page("texts", corpus.pk)).text


def test_the_texts_are_searched_and_filtered(corpus, alice):
    client = log_in(alice)

    def found(**query: str) -> set[str]:
        answer = client.get(page("texts", corpus.pk), query)
        assert answer.status_code == 200
        return {line.text.slug for line in answer.context["lines"]}

    assert found() == {"one-aal", "two-aal", "three-aal"}
    assert len(found(variety="")) == 6
    assert found(q="usually") == set()
    assert found(q="usually", variety="") == {"one-wme"}
    assert found(source="CORAAL", variety="WME") == {"one-wme", "two-wme"}
    assert found(source="-") == {"three-aal"}
    assert found(split="training", variety="") == {"two-aal", "two-wme"}
    assert found(q="nothing of it") == set()
    assert found(split="unknown", page="99") == found()
    assert "No text fits this search" in client.get(page("texts", corpus.pk), {"q": "zzz"}).text


def test_marks_are_escaped_and_cover_overlapping_features(corpus, alice):
    text = log_in(alice).get(page("texts", corpus.pk)).text
    assert 'He <mark title="habitual be">be</mark> &lt;late&gt;' in text
    assert "<late>" not in text
    body = "I ain't nobody"
    assert mark_features(body, detect_features(body)) == (
        'I <mark title="ain’t, negative concord">ain&#x27;t nobody</mark>'
    )


def test_every_feature_has_its_label():
    assert tuple(FEATURE_LABELS) == FEATURE_NAMES


def test_the_description_is_edited_with_its_history(corpus, alice):
    client = log_in(alice)
    form = client.get(page("change", corpus.pk))
    assert "Who wrote or spoke them." in form.text
    values = {
        name: getattr(corpus, name) for name in ("name", "license", "description", "citation")
    }
    answer = client.post(
        page("change", corpus.pk), {**values, "speaker_demographics": "Most are unknown."}
    )
    assert answer["Location"] == page("overview", corpus.pk)
    assert "Most are unknown." in client.get(page("overview", corpus.pk)).text
    assert corpus.history.count() == 2
    assert client.get(page("history", corpus.pk)).status_code == 200


def test_an_outsider_finds_nothing_a_reader_changes_nothing(corpus, alice):
    charlie = log_in(make_user("charlie"))
    pages = [page(name, corpus.pk) for name in ("overview", "texts", "import")]
    pages.append(page("export", corpus.pk, "texts.csv"))
    assert [charlie.get(address).status_code for address in pages] == [404] * 4
    assert charlie.get(page("change", corpus.pk)).status_code == 302  # as the admin answers
    assert "Small" not in charlie.get(page("changelist")).text

    Corpus.objects.update(is_shared=True)
    assert [charlie.get(address).status_code for address in pages] == [200, 200, 403, 200]
    assert charlie.post(page("change", corpus.pk), {"name": "Mine"}).status_code == 403
    assert charlie.post(page("delete", corpus.pk), {"post": "yes"}).status_code == 403
    assert "Add texts" not in charlie.get(page("overview", corpus.pk)).text
    assert Corpus.objects.get().name == "Small"


def test_a_corpus_goes_with_its_texts_unless_a_study_works_on_it(corpus, alice):
    client = log_in(alice)
    study = Study.objects.create(title="Writing", kind=StudyKind.COUNTERPART_WRITING)
    design = WritingDesign.objects.create(study=study, corpus=corpus)
    client.post(page("delete", corpus.pk), {"post": "yes"})
    assert Corpus.objects.exists()
    design.delete()
    client.post(page("delete", corpus.pk), {"post": "yes"})
    assert not Corpus.objects.exists()
    assert not Text.objects.exists()


def test_empty_lists_say_what_to_do(alice):
    client = log_in(alice)
    assert "Import a corpus" in client.get(page("changelist")).text
    bare = Corpus.objects.create(name="Bare", license="CC0", owner=alice)
    assert "No texts yet" in client.get(page("overview", bare.pk)).text
    assert "No texts yet" in client.get(page("texts", bare.pk)).text


def test_downloads_can_be_imported_again(corpus, alice):
    client = log_in(alice)
    Text.objects.filter(slug="one-aal").update(spans=[{"start": 3, "end": 5, "kind": "VP"}])
    for name in ("pairs.jsonl", "texts.jsonl", "pairs.csv", "texts.csv"):
        content = read(client.get(page("export", corpus.pk, name)))
        if name == "pairs.csv":  # the last column says whose annotators wrote the counterpart
            content = "\n".join(line.rpartition(",")[0] for line in content.splitlines())
        copy = import_corpus(
            content=content.encode(), file_name=name, name=f"Copy {name}", license="CC0"
        ).corpus
        assert copy is not None
        fields = ("variety", "body", "source", "split", "body_hash")
        assert set(copy.texts.values_list(*fields)) == set(corpus.texts.values_list(*fields))
        assert copy.pairs.count() == (3 if name.startswith("pairs") else 0)
        if name.endswith("jsonl"):
            assert copy.texts.get(body="He be <late>").spans == [
                {"start": 3, "end": 5, "kind": "VP"}
            ]


def test_downloads_are_described_and_harmless(corpus, alice):
    client = log_in(alice)
    import_corpus(content=b'text\n"=1+1"\n', file_name="x.csv", into=corpus)
    answer = client.get(page("export", corpus.pk, "texts.csv"), {"bom": "1"})
    assert answer["Content-Disposition"].startswith(
        f'attachment; filename="stereoscope-corpus-{corpus.public_id}-texts-'
    )
    content = read(answer)
    assert content.startswith("\ufeffid,text,variety")
    assert "'=1+1" in content
    assert "where the text was drawn from" in read(
        client.get(page("export", corpus.pk, "texts-codebook.csv"))
    )
    line = read(client.get(page("export", corpus.pk, "pairs.jsonl"))).splitlines()[0]
    assert json.loads(line)["target_text"] == "He is usually late"
    assert client.get(page("export", corpus.pk, "people.csv")).status_code == 404


def test_the_pages_cost_a_constant_number_of_queries(corpus, alice, django_assert_max_num_queries):
    from django.http import QueryDict

    from annotation.researcher.corpora.pages import overview_context, texts_context

    alice.get_all_permissions()  # asked for once a request, whatever the page
    with django_assert_max_num_queries(4):
        overview_context(corpus, alice)
    with django_assert_max_num_queries(5):
        texts_context(corpus, QueryDict())


def test_the_example_of_a_file_can_be_copied(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:annotation_corpus_add")).content.decode()
    example = page.partition('<pre class="log">')[2].partition("</pre>")[0]
    heads, first = example.split("\n")
    assert heads.split(",") == ["id", "AAL", "WME", "source"]
    assert first.split(",")[0] == "a1"
