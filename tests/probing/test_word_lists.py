"""Word lists: what a file gives, what is left out or refused, and the page that imports it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from probing.library.word_lists import WordFileError, import_word_list, parse_word_file
from probing.models import WordList

FILE = "# Offensive words\ndang\n\nheck  # mild\nhot  mess\nDANG\nc#\n"


def test_a_file_gives_its_words_once_and_says_what_it_left_out():
    parsed = parse_word_file(b"\xef\xbb\xbf" + FILE.encode())
    assert parsed.words == ("dang", "heck", "hot mess", "c#")
    assert [str(problem) for problem in parsed.left_out] == [
        "Line 3: is blank.",
        "Line 6: “DANG” is already on line 2.",
    ]


def test_a_line_with_several_words_is_split():
    assert parse_word_file(b"damn; shit;hell # strong\nheck").words == (
        "damn",
        "shit",
        "hell",
        "heck",
    )
    with pytest.raises(ValidationError, match="several words"):
        WordList(slug="a", title="A", license="CC0", words=["damn; shit"]).clean_fields()


@pytest.mark.parametrize(
    ("content", "message", "lines"),
    [
        (b"damn, shit", "1 line is bad", [1]),
        (b"good\ncaf\xe9\n" + b"x" * 81, "2 lines are bad", [2, 3]),
        (b"a\x00b", "1 line is bad", [1]),
        (b"# nothing\n\n", "holds no word", []),
        (b"", "holds no word", []),
        (b"\xff\xfew", "UTF-16", []),
    ],
)
def test_a_bad_file_is_refused_with_its_lines(content, message, lines):
    with pytest.raises(WordFileError, match=message) as caught:
        parse_word_file(content)
    assert [problem.line for problem in caught.value.problems] == lines


@pytest.mark.django_db
def test_facts_are_checked_and_nothing_is_stored_by_halves():
    facts = {"content": FILE.encode(), "slug": "mild", "title": "Mild", "license": "CC0"}
    stored, _ = import_word_list(**facts)
    assert stored.words == ["dang", "heck", "hot mess", "c#"]
    for wrong in ({}, {"slug": "other", "license": ""}, {"slug": "no slug"}):
        with pytest.raises(ValidationError):
            import_word_list(**{**facts, **wrong})
    assert WordList.objects.filter(purpose="lookup").count() == 1


@pytest.fixture
def client(db) -> Client:
    user = User.objects.create_user("alice", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="probing"))
    client = Client()
    client.force_login(user)
    return client


def upload(client: Client, address: str, content: bytes, **values: str):
    facts = {"title": "Mild words", "slug": "mild", "purpose": "lookup", "license": "CC0"}
    file = SimpleUploadedFile("words.txt", content)
    return client.post(address, {**facts, "file": file, **values}, follow=True)


def test_a_list_is_imported_on_its_page_and_replaced(client):
    page = upload(client, reverse("admin:probing_wordlist_add"), FILE.encode())
    stored = WordList.objects.get(slug="mild")
    assert stored.words == ["dang", "heck", "hot mess", "c#"]
    assert "4 words are in the list, 2 lines were left out. Line 3: is blank." in page.text
    assert stored.history.get().history_user.username == "alice"

    change = reverse("admin:probing_wordlist_change", args=[stored.pk])
    assert "Show the 4 words" in client.get(change).text
    upload(client, change, b"darn\n", slug="other", title="Milder")
    stored.refresh_from_db()
    assert (stored.slug, stored.title, stored.words) == ("mild", "Milder", ["darn"])
    client.post(change, {"title": "Mildest", "purpose": "lookup", "license": "CC0"})
    stored.refresh_from_db()
    assert (stored.title, stored.words) == ("Mildest", ["darn"])
    assert stored.history.count() == 3


def test_the_page_names_every_bad_line_and_stores_nothing(client):
    page = upload(client, reverse("admin:probing_wordlist_add"), b"ok\ncaf\xe9\na\x00\n")
    assert "Nothing was imported: 2 lines are bad." in page.text
    assert "Line 2: is not UTF-8 text." in page.text
    assert "Line 3: holds a control character" in page.text
    assert not WordList.objects.filter(slug="mild").exists()


def test_words_are_escaped(client):
    upload(client, reverse("admin:probing_wordlist_add"), b"<b>bold\n")
    change = reverse("admin:probing_wordlist_change", args=[WordList.objects.get(slug="mild").pk])
    text = client.get(change).text
    assert "&lt;b&gt;bold" in text
    assert "<b>bold" not in text
