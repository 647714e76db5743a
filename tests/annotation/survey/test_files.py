"""Pictures and sounds as participants get them: as they are, under an address of their own."""

from __future__ import annotations

from django.test import Client

from annotation.instruments.files import choose_logo, store_file
from annotation.studies.lifecycle import launch_study
from tests.annotation.survey.flows import choice, texts
from tests.annotation.survey.media import picture, sound


def test_participants_get_files_as_they_are_and_as_nothing_else(  # type: ignore[no-untyped-def]
    db, make_study, make_person
) -> None:
    study = make_study(flow=["consent", "rating", choice(), choice("b")], launched=False)
    instrument = study.instruments.get()
    heard = store_file(study=study, name="a.wav", content=sound())
    seen = store_file(study=study, name="a.png", content=picture())
    choose_logo(instrument=instrument, file=seen, alt="A “logo”")
    instrument.refresh_from_db()
    instrument.flow = [
        *("consent", "rating"),
        choice(media={"file": heard.digest, "alt": texts("Somebody speaks")}),
        choice("b", media={"file": seen.digest, "alt": texts("A <square>")}),
    ]
    instrument.save()
    launch_study(study=study)
    person = make_person()
    person.start(study.get_absolute_url())
    assert 'alt="A “logo”"' in person.see().html
    person.send(person.see().page)
    person.send(person.see().page)
    html = person.see().html
    assert f'<audio controls preload="metadata" src="{heard.get_absolute_url()}"' in html
    assert "Somebody speaks" in html
    assert "autoplay" not in html
    person.send(person.see().page, choice="panel")
    assert 'alt="A &lt;square&gt;" width="120" height="40"' in person.see().html

    client = Client()
    answer = client.get(seen.get_absolute_url())
    assert (answer.status_code, answer.content) == (200, picture())
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert answer["Cache-Control"].endswith("immutable")
    part = client.get(heard.get_absolute_url(), headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, sound()[4:8])
    assert part["Content-Range"] == f"bytes 4-7/{len(sound())}"
    tail = client.get(heard.get_absolute_url(), headers={"Range": "bytes=-3"})
    assert tail.content == sound()[-3:]
    none = client.get(heard.get_absolute_url(), headers={"Range": "bytes=99999-"})
    assert none.status_code == 416
    whole = client.get(heard.get_absolute_url(), headers={"Range": "bytes=-"})
    assert whole.status_code == 200
    other = heard.get_absolute_url().replace(study.public_id, "other")
    assert client.get(other).status_code == 404
    assert client.get(heard.get_absolute_url().replace(".wav", ".html")).status_code == 404
