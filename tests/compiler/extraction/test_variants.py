"""Variants of a name lead to one page, and different things keep separate pages."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.extraction.names.variants import find_introductions, other_forms
from compiler.extraction.readings import Reading
from compiler.planner import SourceText
from tests.compiler.extraction.stories import compiled, note, notes, page, titles


def aliases_by_title(*texts: str, batch: int = 50) -> dict[str, frozenset[str]]:
    """Return the aliases of all pages but decisions by the titles of the pages."""
    return {
        page.card.title: page.card.aliases
        for page in compiled(notes(*texts), batch=batch).all
        if page.card.type != "decision"
    }


@pytest.mark.parametrize("batch", [1, 2, 50])
def test_hyphens_and_underscores_make_no_second_page(batch: int) -> None:
    pages = aliases_by_title(
        "I read Refactoring English on the train.",
        "A colleague borrowed Refactoring-English for a week.",
        "The talk about Refactoring_English was full.",
        "They print Refactoring-English again.",
        batch=batch,
    )
    ((title, aliases),) = pages.items()
    assert title.replace("-", " ") == "Refactoring English"
    assert aliases >= {"refactoring english", "refactoring-english"}


def test_an_abbreviation_introduced_in_parentheses_is_an_alias() -> None:
    pages = aliases_by_title(
        "The library was plain JavaScript (JS) for years.",
        "Most of it is JavaScript now.",
        "Everybody likes JavaScript here.",
        "Only the old JS stays.",
        "Then JS went.",
        "There is more JS there.",
    )
    assert list(pages) == ["JavaScript"]
    assert "js" in pages["JavaScript"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It runs on WebAssembly (Wasm) today.", [("webassembly", "wasm")]),
        ("She works for the Port of Tallinn Authority (PTA) now.", []),
        ("We use Amazon Web Services (AWS) here.", [("amazon web services", "aws")]),
        ("I met Karl (Berlin) there.", []),
    ],
)
def test_an_abbreviation_must_match_the_letters_of_its_long_form(text: str, found: list[tuple[str, str]]) -> None:
    assert [(long, short.key) for long, short in find_introductions(Reading(note(0, text)))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Workplace Parking Levy is keen. WPL is ring-fenced.", [("workplace parking levy", "wpl")]),
        ("WPL is what the Workplace Parking Levy is called.", [("workplace parking levy", "wpl")]),
        ("We met the Workplace Policy Lead and the Workplace Parking Levy people about the WPL.", []),
        ("The Workplace Parking Levy is keen. WPX is not.", []),
        ("The Parking Levy is keen on PL.", []),
        ("The Workplace Parking Levy came, and so did Wpl.", []),
    ],
)
def test_an_acronym_stands_for_the_only_name_with_its_initials(text: str, found: list[tuple[str, str]]) -> None:
    assert [(long, short.key) for long, short in find_introductions(Reading(note(0, text)))] == found


@pytest.mark.parametrize("batch", [1, 2, 50])
@pytest.mark.parametrize("first", [0, 1, 2])
def test_an_acronym_and_its_name_share_a_page_in_any_order(first: int, batch: int) -> None:
    texts = [
        "The WPL was on the agenda again, and nobody liked the WPL.",
        "The Workplace Parking Levy raises nine million. The WPL pays for the tram.",
        "Without the Workplace Parking Levy there is no tram, and Ines said so.",
        "Only one town has a WPL, and the WPL there is old.",
    ]
    pages = aliases_by_title(*texts[first:], *texts[:first], batch=batch)
    assert [aliases for aliases in pages.values() if "wpl" in aliases] == [{"wpl", "workplace parking levy"}]
    assert len([aliases for aliases in pages.values() if "workplace parking levy" in aliases]) == 1


CHAT = "Mira: Hey Deb! How was the move to {place}?\nDeborah: I like it here.\nMira: Then come to my place, Deb!\n"


@pytest.mark.parametrize("batch", [1, 50])
def test_a_nickname_of_a_chat_speaker_is_an_alias_of_the_speaker(batch: int) -> None:
    pages = aliases_by_title(*(CHAT.format(place=place) for place in ("Ulm", "Bonn", "Kiel", "Jena")), batch=batch)
    assert set(pages) == {"Deborah", "Mira"}
    assert "deb" in pages["Deborah"]


def test_an_ambiguous_nickname_of_two_speakers_is_no_alias() -> None:
    text = "Mira: Hey Dan, and hello!\nDaniel: Hi.\nDaniela: Hi!\nMira: So Dan, how are you?\n"
    assert list(find_introductions(Reading(note(0, text)))) == []


@pytest.mark.parametrize("batch", [1, 50])
def test_the_first_name_of_an_attendee_makes_no_second_page(batch: int) -> None:
    text = "**Attendees:** Theresa Quist, Ola Berg\n\n- Theresa wrote it.\n- With Theresa in {place}.\n"
    pages = aliases_by_title(*(text.format(place=place) for place in ("Ulm", "Bonn", "Kiel", "Jena")), batch=batch)
    assert set(pages) == {"Theresa Quist", "Ola Berg"}


@pytest.mark.parametrize(
    "label",
    [
        "**Attendees:**",
        "Attendees:",
        "- **Present**:",
        "**Teilnehmer:**",
        "Étaient présents :",
        "Sont excusés :",
        "Estuvieron presentes:",
        "Es waren anwesend:",
    ],
)
def test_attendees_have_one_page_under_any_attendance_label(label: str) -> None:
    first = f"{label} Ola Berg, Theresa\n\n- Theresa: two letters for Ulm.\n"
    later = f"{label} Ola Berg, Theresa Quist\n\n- {{text}}\n"
    texts = (later.format(text=f"Theresa: the letter of {place} is done.") for place in ("Bonn", "Kiel", "Jena"))
    assert set(aliases_by_title(first, *texts)) == {"Theresa Quist", "Ola Berg"}


def test_a_title_keeps_its_article_and_has_an_alias_without_it() -> None:
    sources = [note(0, "Letters that nobody posts.")]
    sources = [
        SourceText(source.id, source.kind, source.ref, source.content, source.captured_at, "The Unsent")
        for source in sources
    ]
    sources += [
        SourceText(source.id, source.kind, source.ref, source.content, source.captured_at + timedelta(days=1))
        for source in notes("", "Better than The Unsent, she says.", "I lent The Unsent to Colm.")[1:]
    ]
    (page,) = [page for page in compiled(sources).all if "unsent" in page.card.aliases]
    assert page.card.title == "The Unsent"


@given(st.from_regex(r"[a-z]{2,8}([ -][a-z]{2,8}){0,2}", fullmatch=True))
@settings(max_examples=200)
def test_other_forms_of_a_name_lead_back_to_the_name(name: str) -> None:
    for form in other_forms(name):
        assert form != name
        if "-" in form and "-" not in name:
            assert name in other_forms(form)


def test_a_firm_and_its_short_name_share_a_page() -> None:
    texts = [
        "Corvina Bank wants a report.",
        "We waited for Corvina all day.",
        "The contract with Corvina Bank is signed.",
        "Then Corvina paid. We like Corvina.",
    ]
    for batch in (1, 50):
        wiki = compiled(notes(*texts), batch)
        assert titles(wiki) == ["Corvina Bank"]
        assert page(wiki, "Corvina Bank").card.aliases >= {"corvina", "corvina bank"}


@pytest.mark.parametrize("batch", [1, 50])
def test_a_first_name_and_a_full_name_share_a_page_in_any_order(batch: int) -> None:
    full = [f"{when} Samira Haddad joined the call." for when in ("Then", "Later", "Today")]
    first = ["We asked Samira for fewer alerts.", "We met Samira.", "Today Samira said no."]
    for texts in ([*full, *first], [*first, *full]):
        (page,) = compiled(notes(*texts), batch).all
        assert page.card.aliases == {"samira", "samira haddad"}


LARKSPUR = [
    "I begin at Larkspur Robotics on Monday.",
    "Larkspur is smaller than I thought.",
    "The firmware at Larkspur Robotics is new.",
    "At Larkspur we froze the design.",
    "A friend joined Larkspur Robotics today.",
    "It is bought by somebody, says Larkspur Robotics.",
    "They moved, and Larkspur did not like it.",
]


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_a_firm_and_the_first_word_of_its_name_share_a_page(batch: int) -> None:
    pages = aliases_by_title(*LARKSPUR, batch=batch)
    assert list(pages) == ["Larkspur Robotics"]
    assert "larkspur" in pages["Larkspur Robotics"]


def test_a_city_and_an_event_named_after_it_have_separate_pages() -> None:
    pages = aliases_by_title(
        "We ran the Lisbon Marathon.",
        "The Lisbon Marathon was hot.",
        "Nobody wins the Lisbon Marathon twice.",
        "A week in Lisbon.",
        "The hills of Lisbon are steep.",
        "I like Lisbon best in spring.",
    )
    assert sorted(pages) == ["Lisbon", "Lisbon Marathon"]


def test_a_given_name_makes_no_second_page_beside_the_full_name() -> None:
    pages = aliases_by_title(
        "They hired Noor Haddad to run testing.",
        "Noor Haddad said the joint is weak.",
        "I stay here because Noor Haddad asked me to.",
        "Later Noor slipped away.",
        "We all like Noor here.",
        "The car of Noor is fast.",
        "So Noor could not break it.",
        "Even Noor is furious.",
        "There is Noor again.",
    )
    assert list(pages) == ["Noor Haddad"]
    assert "noor" in pages["Noor Haddad"]


@pytest.mark.parametrize(
    ("texts", "title", "part"),
    [
        (
            [
                f"Anwesend: Thea Klüver, Rolf Lenz\n\n- Kasse: Thea Klüver berichtet {number}.\n- Thea Klüver zählt."
                for number in ("kurz", "lang", "gar nicht")
            ],
            "Thea Klüver",
            "Klüver",
        ),
        (
            ["The wiring on Fennel Street is old. We fixed the lamps on Fennel Street."] * 2
            + ["The awning on Fennel Street is torn. Nobody walks on Fennel Street now."],
            "Fennel Street",
            "Fennel",
        ),
    ],
)
def test_a_word_that_stands_only_in_a_longer_name_has_no_page_of_its_own(
    texts: list[str], title: str, part: str
) -> None:
    pages = aliases_by_title(*texts)
    assert title in pages
    assert part not in pages


def test_a_firm_with_and_without_firma_has_one_page() -> None:
    pages = aliases_by_title(
        "Die Firma Brandauer hat ein Angebot geschickt.",
        "Wir waren heute bei Brandauer.",
        "Ein Brief von Brandauer kam.",
        "Der Chef der Firma Brandauer grüßt.",
    )
    assert list(pages) == ["Brandauer"]


FEATURES = {
    "en": [
        "I pay for Acme Sync now. The rest of Acme is free. My phone has Sync, too.",
        "Today Acme Sync was slow. I like Acme anyway. The team of Sync wrote back.",
        "The new Acme Sync is out. Nothing in Acme changed. I had to stop Sync once.",
        "It needs Acme Sync on both. Then Acme opens. We set up Sync at noon.",
    ],
    "fr": [
        "Le service Nova Partage est payant. Le logiciel Nova reste gratuit. Ma sœur aime Partage aussi.",
        "Hier Nova Partage était lent. Mon avis sur Nova ne change pas. Il faut relancer Partage parfois.",
        "La version de Nova Partage est sortie. Rien ne change dans Nova ici. Tout passe par Partage maintenant.",
        "Il faut Nova Partage partout. Le bouton de Nova est bleu. On ouvre Partage à midi.",
    ],
    "es": [
        "Pago por Faro Copias desde ayer. El resto de Faro es gratis. Mi madre usa Copias también.",
        "Hoy Faro Copias iba lento. Me gusta Faro igual. La gente de Copias contestó.",
        "La nueva Faro Copias ha salido. Nada en Faro cambia. Hay que parar Copias a veces.",
        "Hace falta Faro Copias en casa. Luego Faro se abre. Probamos Copias por la tarde.",
    ],
}


@pytest.mark.parametrize("batch", [1, 2, 50])
@pytest.mark.parametrize(("language", "whole", "short"), [
    ("en", "Acme Sync", "sync"), ("fr", "Nova Partage", "partage"), ("es", "Faro Copias", "copias"),
])  # fmt: skip
def test_a_feature_has_one_page_with_and_without_its_product(language: str, whole: str, short: str, batch: int) -> None:
    pages = aliases_by_title(*FEATURES[language], batch=batch)
    assert sorted(pages) == sorted([whole, whole.split()[0]])
    assert pages[whole] >= {short, whole.lower()}
    assert short not in pages[whole.split()[0]]


@pytest.mark.parametrize(
    ("texts", "titles"),
    [
        (  # one sentence tells them apart
            [
                "We run Oracle here. The bill for Oracle Java or Java itself is high. A course on Java begins.",
                "I met Oracle today. They compare Java with Oracle Java there. The book on Java is long.",
                "People at Oracle call. Their Oracle Java and Java differ. Most of Java is old.",
            ],
            {"Oracle Java", "Java"},
        ),
        (  # most sources know the one without the other
            [
                "They sell Oracle Java. We left Oracle long ago. The old code is Java still.",
                "A letter about Oracle Java came. The lawyers of Oracle wait. We keep Java though.",
                "The price of Oracle Java rose. The friends of Oracle are few.",
                *(f"Today I wrote Java {when}." for when in ("at noon", "at home", "for fun", "again", "with joy")),
            ],
            {"Oracle Java", "Java"},
        ),
        (  # somebody's name
            [
                f"We saw Paris Hilton {when}. The streets of Paris were full. Then Hilton said goodbye. I like Paris."
                for when in ("today", "at noon", "again")
            ],
            {"Paris", "Paris Hilton"},
        ),
        (  # a kind of place before the name of a place
            [
                f"The Café Lisbon was full {when}. The Café of my aunt is closed. We stayed in Lisbon."
                for when in ("today", "at noon", "again")
            ],
            {"Café Lisbon", "Lisbon"},
        ),
    ],
)
def test_two_things_that_share_a_word_have_separate_pages(texts: list[str], titles: set[str]) -> None:
    assert set(aliases_by_title(*texts)) >= titles


@pytest.mark.parametrize("batch", [1, 50])
def test_an_article_with_a_capital_belongs_to_the_name_of_a_place(batch: int) -> None:
    pages = aliases_by_title(
        "Mañana subo a Los Robles con todos y hay que podar.",
        "Las fotos de Los Robles son de ayer, y no hay más.",
        "La cena es en Los Robles, pero más tarde que siempre.",
        "Los Robles está muy lejos, y hoy no hay coche.",
        batch=batch,
    )
    assert list(pages) == ["Los Robles"]
    assert pages["Los Robles"] == {"los robles", "robles"}


def test_an_article_at_a_sentence_start_is_no_part_of_a_name() -> None:
    texts = [f"La Rosalía cantó {when}, y los demás también." for when in ("ayer", "hoy", "anoche", "antes")]
    assert list(aliases_by_title(*texts)) == ["Rosalía"]


@pytest.mark.parametrize(
    "texts",
    [
        ("Mit Frau Brandt telefoniert.", "Brief an Fr. Brandt geschickt.", "Frau Brandt war hier.", "Fr. Brandt auch."),
        (
            "Besuch bei Fr. Brandt.",
            "Herr Brandt und Fr. Brandt waren da.",
            "Mit Frau Brandt und ihrem Hund.",
            "Frau Brandt rief an.",
        ),
    ],
)
@pytest.mark.parametrize("batch", [1, 2, 50])
def test_a_title_and_its_abbreviation_give_one_page(texts: tuple[str, ...], batch: int) -> None:
    found = [
        aliases
        for title, aliases in aliases_by_title(*texts, batch=batch).items()
        if title in ("Frau Brandt", "Fr. Brandt")
    ]
    assert len(found) == 1
    assert found[0] >= {"frau brandt", "fr brandt"}
