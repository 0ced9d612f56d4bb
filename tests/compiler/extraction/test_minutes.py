"""Minutes: those present, the items of an agenda, and who did what."""

import pytest

from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import body, compiled, leading_names, note, page, story, titles

KICKOFF = (
    "# Kickoff\n\nPresent: Ines Carvalho, Tobias (remote) & Wen Li\n\n- Ines leads Orchard. Tobias builds the locks."
)


def test_those_present_are_people() -> None:
    texts = ["Teilnehmer: Aylin, Kai und Robert\n\n- Das Portal läuft.", "Teilnehmer: Kai, Aylin\n\n- Kai hat Urlaub."]
    wiki = compiled(story(*texts, "Anwesend: Kai, Aylin\n\n- Alles gut."))
    assert titles(wiki, "entity") == ["Aylin", "Kai"]


def test_what_stands_before_those_present_is_no_name() -> None:
    wiki = compiled(story(*["Apologies: Grace Okafor\nAttendees: Ines, Wen\n\n- Short one."] * 3))
    assert {"attendees", "apologies"}.isdisjoint({*leading_names(wiki), *wiki.held})


def test_a_list_of_those_present_is_quoted_only_where_nothing_else_is_said() -> None:
    wiki = compiled(
        story(
            KICKOFF, "Attendees: Ines, Tobias\n\n- Ines wrote to Salto.", "Attendees: Tobias\n\n- We should call Ines."
        )
    )
    written = "".join(section.body for section in page(wiki, "Ines Carvalho").sections.values())
    assert "Ines wrote to Salto." in written
    assert "Present:" not in written
    assert "Attendees:" not in written


def test_a_title_in_the_family_or_the_team_is_left_out_elsewhere() -> None:
    texts = ["Coach Iris was patient.", "I met Coach Iris again.", "The book that Iris lent me.", "Saw Iris at noon."]
    assert titles(compiled(story(*texts)), "entity") == ["Coach Iris"]


def test_german_prepositions_part_two_names() -> None:
    texts = ["Frau Huber von der Gemeinde Altenau war da.", "Dann kam Frau Huber.", "Brief von Frau Huber."]
    wiki = compiled(story(*texts, "Ein Treffen mit Ursula von der Heide.", "Der Hof von Ursula von der Heide."))
    assert "Frau Huber" in titles(wiki, "entity")
    assert "Ursula von der Heide" in titles(wiki, "entity")
    assert "frau huber von der gemeinde altenau" not in {*wiki.held, *leading_names(wiki)}


def test_a_german_subject_is_written_as_the_notes_write_it() -> None:
    texts = [
        "Die Wärmepumpe ist laut. Die Wärmepumpe tropft.",
        "Wegen der Wärmepumpe kam jemand: die Wärmepumpe läuft.",
    ]
    wiki = compiled(story(*texts, "Die Wärmepumpe ist still. Ohne die Wärmepumpe wäre es kalt."))
    assert titles(wiki, "topic") == ["Wärmepumpe"]


def test_an_item_of_minutes_is_about_the_noun_before_its_colon() -> None:
    texts = ["- Payments: the bank wants two signatures.", "- Payments: everything went out on Monday morning."]
    wiki = compiled(
        story(*texts, "- Payments: we still wait for the refund.", *["Mood: good\nWeather: cold and wet"] * 3)
    )
    assert titles(wiki, "topic") == ["Payments"]


def test_a_german_ordinal_ends_no_sentence() -> None:
    texts = ["Das Sommerfest findet am 5. Juli statt."] * 2 + ["Das Sommerfest ist gut geplant. Das Sommerfest kommt."]
    assert page(compiled(story(*texts)), "Sommerfest").card.summary == texts[0]


def test_an_entity_without_a_sentence_is_not_summed_up_by_the_names_beside_it() -> None:
    texts = ["Is it Kestrel or Marco, Ana?", "Kestrel: Marco asks Ana.", "Look at Kestrel, Marco and Ana:"]
    assert page(compiled(story(*texts)), "Kestrel").card.summary is None


def test_a_name_with_a_colon_far_behind_it_is_summed_up() -> None:
    said = "Wen Li showed the floor plan: 42 desks and 6 phone booths."
    wiki = compiled(story(said, "Lunch with Wen Li.", "Then Wen Li left."))
    assert page(wiki, "Wen Li").card.summary == said


def test_the_context_of_a_decision_is_about_it() -> None:
    text = "Attendees: Ines\n- Tobias is ill.\n- Launch needs locks.\n- We decided to move the launch, as it rains."
    assert body(compiled([note(0, text)]), "Move the launch", "context").count("“") == 1
    assert "Launch needs locks." in body(compiled([note(0, text)]), "Move the launch", "context")


def test_german_towns_and_families_have_names() -> None:
    texts = ["Das Angebot der Stadt Lemgo kam.", "Wir schreiben der Stadt Lemgo.", "Wegen der Stadt Lemgo warten wir."]
    assert titles(compiled(story(*texts)), "entity") == ["Stadt Lemgo"]
    texts = ["Heute mit Petersen telefoniert.", "Ein Brief von Petersen ist da.", "Wir treffen uns mit Petersen."]
    assert titles(compiled(story(*texts)), "entity") == ["Petersen"]
    texts = ["Heute mit Linsen gekocht.", "Eine Suppe mit Linsen für alle.", "Wir essen Brot mit Linsen."]
    assert not titles(compiled(story(*texts)))


def test_a_guest_is_named_without_the_word_for_guests() -> None:
    sightings = Reading(note(0, "Anwesend: Bodo Lenz, Gast: Frau Albers\n\n- Der Steg ist fertig.")).sightings
    assert sightings["frau albers"].is_person
    assert not any("gast" in key for key in sightings)


def test_who_is_excused_in_french_is_quoted_only_where_nothing_else_is_said() -> None:
    texts = [
        f"Présente : Odile\nExcusée : Hélène Marchand\n\n{said}" for said in ("Hélène a trouvé les clés.", "Rien.")
    ]
    wiki = compiled(story(*texts, "Présentes : Hélène Marchand, Odile\n\nHélène écrit au maire."))
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
def test_the_number_of_an_item_on_the_agenda_is_no_name(line: str) -> None:
    wiki = compiled(story(*[line] * 3))
    assert {"Brunnen"} <= set(titles(wiki)) <= {"Brunnen", "Filter"}
    assert "“Brunnen: der Filter von Aquaform ist bestellt.”" in "".join(
        section.body for section in page(wiki, "Brunnen").sections.values()
    )


def test_a_point_in_a_sentence_stays_there() -> None:
    assert [one.text for one in Reading(note(0, "Point 2 is wrong, and so is Top Gun 3.")).sentences] == [
        "Point 2 is wrong, and so is Top Gun 3."
    ]


def test_a_municipality_is_the_same_with_and_without_the_word() -> None:
    texts = [
        "Ein Angebot für die Gemeinde Tamins ging raus.",
        "Gemeinde Tamins will weniger bezahlen.",
        "Der Hang in Tamins ist steil, denn Tamins liegt hoch.",
        "Wir fahren nach Tamins und dann heim.",
    ]
    assert titles(compiled(story(*texts))) == ["Tamins"]
