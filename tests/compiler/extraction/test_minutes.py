"""Attendees, agenda items and decisions are read from minutes."""

import pytest

from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import body, compiled, leading_names, note, notes, page, titles

KICKOFF = (
    "# Kickoff\n\nPresent: Ines Carvalho, Tobias (remote) & Wen Li\n\n- Ines leads Orchard. Tobias builds the locks."
)


def test_attendees_are_people() -> None:
    texts = ["Teilnehmer: Aylin, Kai und Robert\n\n- Das Portal läuft.", "Teilnehmer: Kai, Aylin\n\n- Kai hat Urlaub."]
    wiki = compiled(notes(*texts, "Anwesend: Kai, Aylin\n\n- Alles gut."))
    assert titles(wiki, "entity") == ["Aylin", "Kai"]


def test_attendance_labels_are_no_names() -> None:
    wiki = compiled(notes(*["Apologies: Grace Okafor\nAttendees: Ines, Wen\n\n- Short one."] * 3))
    assert {"attendees", "apologies"}.isdisjoint({*leading_names(wiki), *wiki.held})


def test_attendee_lists_are_not_quoted_beside_other_sentences() -> None:
    wiki = compiled(
        notes(
            KICKOFF, "Attendees: Ines, Tobias\n\n- Ines wrote to Salto.", "Attendees: Tobias\n\n- We should call Ines."
        )
    )
    text = "".join(section.body for section in page(wiki, "Ines Carvalho").sections.values())
    assert "Ines wrote to Salto." in text
    assert "Present:" not in text
    assert "Attendees:" not in text


def test_a_person_with_and_without_a_team_title_has_one_page() -> None:
    texts = ["Coach Iris was patient.", "I met Coach Iris again.", "The book that Iris lent me.", "Saw Iris at noon."]
    assert titles(compiled(notes(*texts)), "entity") == ["Coach Iris"]


def test_german_von_der_separates_names_except_within_surnames() -> None:
    texts = ["Frau Huber von der Gemeinde Altenau war da.", "Dann kam Frau Huber.", "Brief von Frau Huber."]
    wiki = compiled(notes(*texts, "Ein Treffen mit Ursula von der Heide.", "Der Hof von Ursula von der Heide."))
    assert "Frau Huber" in titles(wiki, "entity")
    assert "Ursula von der Heide" in titles(wiki, "entity")
    assert "frau huber von der gemeinde altenau" not in {*wiki.held, *leading_names(wiki)}


def test_a_german_topic_keeps_the_spelling_of_the_notes() -> None:
    texts = [
        "Die Wärmepumpe ist laut. Die Wärmepumpe tropft.",
        "Wegen der Wärmepumpe kam jemand: die Wärmepumpe läuft.",
    ]
    wiki = compiled(notes(*texts, "Die Wärmepumpe ist still. Ohne die Wärmepumpe wäre es kalt."))
    assert titles(wiki, "topic") == ["Wärmepumpe"]


def test_the_noun_before_the_colon_of_an_agenda_item_is_a_topic() -> None:
    texts = ["- Payments: the bank wants two signatures.", "- Payments: everything went out on Monday morning."]
    wiki = compiled(
        notes(*texts, "- Payments: we still wait for the refund.", *["Mood: good\nWeather: cold and wet"] * 3)
    )
    assert titles(wiki, "topic") == ["Payments"]


def test_a_german_ordinal_does_not_end_a_sentence() -> None:
    texts = ["Das Sommerfest findet am 5. Juli statt."] * 2 + ["Das Sommerfest ist gut geplant. Das Sommerfest kommt."]
    assert page(compiled(notes(*texts)), "Sommerfest").card.summary == texts[0]


def test_an_entity_without_a_sentence_has_no_summary() -> None:
    texts = ["Is it Kestrel or Marco, Ana?", "Kestrel: Marco asks Ana.", "Look at Kestrel, Marco and Ana:"]
    assert page(compiled(notes(*texts)), "Kestrel").card.summary is None


def test_a_sentence_with_a_late_colon_can_be_a_summary() -> None:
    sentence = "Wen Li showed the floor plan: 42 desks and 6 phone booths."
    wiki = compiled(notes(sentence, "Lunch with Wen Li.", "Then Wen Li left."))
    assert page(wiki, "Wen Li").card.summary == sentence


def test_the_context_of_a_decision_quotes_only_related_sentences() -> None:
    text = "Attendees: Ines\n- Tobias is ill.\n- Launch needs locks.\n- We decided to move the launch, as it rains."
    assert body(compiled([note(0, text)]), "Move the launch", "context").count("“") == 1
    assert "Launch needs locks." in body(compiled([note(0, text)]), "Move the launch", "context")


def test_german_towns_and_surnames_are_names() -> None:
    texts = ["Das Angebot der Stadt Lemgo kam.", "Wir schreiben der Stadt Lemgo.", "Wegen der Stadt Lemgo warten wir."]
    assert titles(compiled(notes(*texts)), "entity") == ["Stadt Lemgo"]
    texts = ["Heute mit Petersen telefoniert.", "Ein Brief von Petersen ist da.", "Wir treffen uns mit Petersen."]
    assert titles(compiled(notes(*texts)), "entity") == ["Petersen"]
    texts = ["Heute mit Linsen gekocht.", "Eine Suppe mit Linsen für alle.", "Wir essen Brot mit Linsen."]
    assert not titles(compiled(notes(*texts)))


def test_the_guest_label_is_no_part_of_a_name() -> None:
    sightings = Reading(note(0, "Anwesend: Bodo Lenz, Gast: Frau Albers\n\n- Der Steg ist fertig.")).sightings
    assert sightings["frau albers"].is_person
    assert not any("gast" in key for key in sightings)


def test_french_absence_lists_are_not_quoted_beside_other_sentences() -> None:
    texts = [
        f"Présente : Odile\nExcusée : Hélène Marchand\n\n{sentence}"
        for sentence in ("Hélène a trouvé les clés.", "Rien.")
    ]
    wiki = compiled(notes(*texts, "Présentes : Hélène Marchand, Odile\n\nHélène écrit au maire."))
    assert "Excusée" not in "".join(section.body for section in page(wiki, "Hélène Marchand").sections.values())


@pytest.mark.parametrize(
    "line",
    [
        "TOP 1 Brunnen: der Filter von Aquaform ist bestellt.",
        "- TOP 3: Brunnen: der Filter von Aquaform ist bestellt.",
        "**TOP 2** Brunnen: der Filter von Aquaform ist bestellt.",
        "Punkt 4: Brunnen: der Filter von Aquaform ist bestellt.",
        "Item 7. Brunnen: der Filter von Aquaform ist bestellt.",
    ],
)
def test_agenda_item_numbers_are_no_names(line: str) -> None:
    wiki = compiled(notes(*[line] * 3))
    assert {"Brunnen"} <= set(titles(wiki)) <= {"Brunnen", "Filter"}
    assert "“Brunnen: der Filter von Aquaform ist bestellt.”" in "".join(
        section.body for section in page(wiki, "Brunnen").sections.values()
    )


def test_an_item_number_within_a_sentence_stays() -> None:
    assert [sentence.text for sentence in Reading(note(0, "Point 2 is wrong, and so is Top Gun 3.")).sentences] == [
        "Point 2 is wrong, and so is Top Gun 3."
    ]


def test_a_municipality_with_and_without_gemeinde_has_one_page() -> None:
    texts = [
        "Ein Angebot für die Gemeinde Tamins ging raus.",
        "Gemeinde Tamins will weniger bezahlen.",
        "Der Hang in Tamins ist steil, denn Tamins liegt hoch.",
        "Wir fahren nach Tamins und dann heim.",
    ]
    assert titles(compiled(notes(*texts))) == ["Tamins"]
