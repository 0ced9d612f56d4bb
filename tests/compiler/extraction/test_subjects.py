"""Topics come from nouns that notes repeat, with or without capitals, in any script."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.extraction.names.subjects import Subject, subjects, title_subjects
from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import compiled, note, notes, page, titles

ENGLISH = [
    "# On the heat pump\n\nWe priced a heat pump. The neighbours hear nothing of the heat pump.",
    "The installer came for the heat pump. He drew the cellar with the heat pump. ",
    "Cold night. We slept beside the heat pump. Then we called about the heat pump.",
]
ADOPTION = [
    "I looked into adoption. The adoption agency wrote back.",
    "We talked about adoption. Then came an adoption lawyer.",
    "Nobody warned us about adoption. One needs an adoption advisor.",
]
GERMAN = [
    "Heute am Hochbeet gebaut. Das Hochbeet ist fertig.",
    "Erde für das Hochbeet geholt. Im Hochbeet wächst Salat.",
    "Schnecken im Hochbeet! Wir decken das Hochbeet ab.",
]
CHINESE = [
    "今天装了松鼠输入法。松鼠输入法很快。我喜欢松鼠输入法。",
    "松鼠输入法的词库。怎么配置松鼠输入法？松鼠输入法可以同步。",
    "又换回松鼠输入法。松鼠输入法开源，松鼠输入法免费。",
]
JAPANESE = [
    "自家製酵母を育てた。自家製酵母は元気だ。",
    "自家製酵母でパンを焼いた。自家製酵母の香り。",
    "自家製酵母が弱った。自家製酵母に粉を足した。",
]


@pytest.mark.parametrize(
    ("texts", "topic"),
    [(ENGLISH, "Heat pump"), (GERMAN, "Hochbeet"), (CHINESE, "松鼠输入法"), (JAPANESE, "自家製酵母")],
)
def test_a_noun_repeated_in_two_notes_is_a_topic(texts: list[str], topic: str) -> None:
    assert topic in titles(compiled(notes(*texts[1:])))
    assert topic not in titles(compiled(notes(*texts[2:])))


def test_a_chinese_word_tagged_twice_earns_a_page_when_a_note_lists_it() -> None:
    def page_titles(tag: str, *texts: str) -> list[str]:
        tagged = [note(0, "写了一张大字。", tags=[tag]), note(1, "新买的毛笔很软。", tags=[tag])]
        return titles(compiled([*tagged, *(note(number, text) for number, text in enumerate(texts, 2))]))

    assert page_titles("书法", "每天是陶艺、书法和木工。", "又是书法。") == ["书法"]
    assert page_titles("书法", "每天是陶艺和木工。", "又是木工。") == []
    assert page_titles("照片", "每天是陶艺、照片和木工。", "又是照片。") == [], "a common word"


SHORT_ENGLISH = [
    "Cold. The courier app crashes on old phones. Nobody knows why.",
    "Long day. We chose Flutter for the courier app, since it is small.",
    "The courier app now starts in a second. Good.",
]
SHORT_GERMAN = [
    "Nebel am Morgen. Die Laube ist schief. Wir lachten.",
    "Henrike hat sofort die Laube ausgemessen. Danach Suppe.",
    "Die Laube steht wieder gerade. Gefeiert bis zehn.",
]


@pytest.mark.parametrize(("texts", "topic"), [(SHORT_ENGLISH, "Courier app"), (SHORT_GERMAN, "Laube")])
def test_a_subject_of_short_notes_needs_no_second_sentence(texts: list[str], topic: str) -> None:
    assert titles(compiled(notes(*texts)), "topic") == [topic]
    passing = "Later in the courier app. Später in der Laube."  # two say it, and none is about it
    assert topic not in titles(compiled(notes(passing, passing)), "topic")


def test_common_nouns_repeated_in_every_note_are_no_topics() -> None:
    texts = ["We had a meeting about the plan. The plan was good, and the meeting was long. It was a good time."] * 4
    assert titles(compiled(notes(*texts))) == []


def test_unlinked_nouns_are_no_topics_in_notes_with_links() -> None:
    linked = [f"{text} See [[Radiators]]." for text in ENGLISH]
    assert titles(compiled(notes(*linked))) == ["Radiators"]


def test_the_text_of_a_link_to_another_note_names_a_subject() -> None:
    text = "Read [tide tables](tides.md) first. In winter the tide tables are wrong."
    assert [name for name, *_ in of(Reading(note(0, text)))] == ["tide tables"]


def of(reading: Reading) -> list[Subject]:
    """Return the subjects of a reading."""
    return list(subjects(reading.lines, (), reading.language))


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab 的松鼠輸入,.#[](]\n\"'Ää酵"), max_size=300))
def test_a_subject_comes_with_a_sentence_of_its_text(text: str) -> None:
    reading = Reading(note(0, text))
    for name, said, *_ in of(reading):
        assert name
        assert any(said == sentence.text for sentence in reading.sentences)


def test_a_noun_within_word_pairs_counts_if_it_also_stands_alone() -> None:
    assert titles(compiled(notes(*ADOPTION)), "topic") == ["Adoption"]
    blue = "We painted the blue vase. Then we painted the blue sky. Someone bought the blue chair."
    assert not [name for name, _, is_about, _ in of(Reading(note(0, blue))) if is_about and name == "blue"]


def test_a_pursuit_without_an_article_is_a_topic() -> None:
    texts = ["We tried pottery. I love pottery."] * 3
    assert titles(compiled(notes(*texts)), "topic") == ["Pottery"]


def test_a_rare_chinese_noun_of_four_short_notes_is_a_topic() -> None:
    texts = ["爬到洗衣机后面的年糕。", "给年糕买了猫砂。", "年糕不肯吃饭。", "今天年糕很乖。"]
    assert "年糕" in titles(compiled(notes(*texts)))
    assert "年糕" not in titles(compiled(notes(*texts[:3])))
    common = ["爬到洗衣机后面的孩子。", "给孩子买了书包。", "孩子不肯吃饭。", "今天孩子很乖。"]
    assert titles(compiled(notes(*common))) == []


def test_a_chinese_noun_of_two_words_needs_three_short_notes() -> None:
    texts = ["今天去了陶艺教室。", "陶艺教室在三楼。", "钥匙忘在陶艺教室。"]
    assert "陶艺教室" in titles(compiled(notes(*texts)))
    assert titles(compiled(notes(*texts[:2]))) == []


def test_a_japanese_noun_of_two_words_in_three_notes_is_a_topic() -> None:
    texts = ["料金改定の案を出した。", "次回は料金改定を話す。", "料金改定は十月から。"]
    assert "料金改定" in titles(compiled(notes(*texts)))
    assert titles(compiled(notes(*texts[:2]))) == []


@pytest.mark.parametrize(
    "written", ["《雾中的灯塔》", "[《雾中的灯塔》](https://example.org/1)", "《[雾中的灯塔](https://example.org/1)》"]
)
def test_a_work_in_two_notes_is_a_topic(written: str) -> None:
    assert "雾中的灯塔" in titles(compiled(notes(f"昨晚看完了{written}。", f"又想起{written}里的海。")))


def test_chinese_words_are_not_split_at_apparent_grammar_words() -> None:
    text = "因为图书馆的会议室在三楼。读书会很安静。林晓雯说她会来。林晓雯带来了样书。"
    sightings = Reading(note(0, text)).sightings
    assert {"会议室", "读书会", "林晓雯"} <= set(sightings)
    assert {"图书馆", "议室", "因为图书馆", "林晓雯带"}.isdisjoint(sightings)


def test_a_german_name_earns_a_page_when_a_noun_explains_it_once() -> None:
    found = titles(
        compiled(
            notes(
                "Die Ausleihe läuft jetzt über die Plattform Leihlokal.",
                "Leihlokal meldet die ersten Fahrten.",
                "Leihlokal führt eine Kaution ein.",
                "Die Farbe Blau ist Geschmackssache.",
            )
        )
    )
    assert found == ["Leihlokal"]


def test_a_german_noun_of_agenda_items_is_a_topic() -> None:
    found = titles(
        compiled(
            notes(
                "- Regatta: Die Boote sind fast alle gemeldet.\n- Die Regatta ist am Samstag.",
                "- Regatta: Es waren zwei und sechzig Boote da.\n- Die Regatta war trocken.",
                "- Regatta im Herbst?",
            )
        )
    )
    assert "Regatta" in found


def test_a_tag_in_a_title_earns_a_page_with_the_second_source() -> None:
    first = note(0, "We moved everything over.", title="From Jekyll to Eleventy", tags=["eleventy"])
    second = note(1, "It is most of the weight.", title="Less of it", tags=["eleventy"])
    assert "Eleventy" in titles(compiled([first, second]))
    generic = note(2, "搬完了。", title="我的博客", tags=["博客"]), note(3, "很快。", title="小结", tags=["博客"])
    assert "博客" not in titles(compiled(generic))


def test_a_linked_person_is_an_entity() -> None:
    wiki = compiled(
        notes("Kickoff with [[Dana Whitlock]].", "[[Dana Whitlock]] asked for it.", "See [[Dana Whitlock]] again.")
    )
    assert titles(wiki, "entity") == ["Dana Whitlock"]
    assert "dana whitlocks" not in page(wiki, "Dana Whitlock").card.aliases


ROMANCE = {
    "fr": ("Tilleul", [
        "Rien de neuf. Le tilleul est malade, dit l'élagueur, et nous attendons.",
        "Toute la matinée dehors. Le tilleul a perdu une branche cette nuit.",
        "Nous avons bu le café sous le tilleul avec les autres.",
    ]),
    "es": ("Huerto", [
        "Mucho calor hoy. El huerto está seco y hay que regar más.",
        "Nada nuevo por aquí. El huerto tiene tomates, por fin.",
        "Hemos pasado la tarde en el huerto con todos.",
    ]),
    "pt": ("Estanho", [
        "Um dia longo, mas bom. O estanho é mole e a gente aprende depressa.",
        "Nada de novo por aqui. O estanho foi caro este ano.",
        "Voltei para casa com uma colher, e as mãos cheiram ao estanho ainda.",
    ]),
    "it": ("Pergolato", [
        "Oggi niente di nuovo. Il pergolato è pronto e noi siamo contenti.",
        "Molto vento anche ieri. Il pergolato era storto dopo la tempesta.",
        "Siamo rimasti sotto al pergolato con tutti gli altri.",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("language", list(ROMANCE))
def test_nouns_that_short_romance_notes_are_about_are_topics(language: str) -> None:
    topic, texts = ROMANCE[language]
    assert {Reading(one).language for one in notes(*texts)} == {language}
    assert topic in titles(compiled(notes(*texts)), "topic")
    assert topic in titles(compiled(notes(texts[0], texts[2])), "topic"), "one source is about it"
    assert topic not in titles(compiled(notes(*texts[2:] * 3)), "topic"), "none is about it"


def test_a_french_noun_with_its_complement_is_one_topic() -> None:
    texts = [
        "- Local à vélos : Odile propose de vider la cave du bâtiment B.",
        "- Le local à vélos est ouvert depuis le 12 et Odile distribue les clés.",
        "- Un casque a été oublié dans le local à vélos, on ne sait pas par qui.",
    ]
    assert titles(compiled(notes(*texts)), "topic") == ["Local à vélos"]


def test_labels_of_french_and_spanish_minutes_are_no_topics() -> None:
    french = ["Présents : Mme Berthelot, M. Kacimi, Odile Frémont, M. Tran\n\n- Rien à dire de plus aujourd'hui."] * 3
    spanish = ["Asistentes: la señora Pardo, el señor Gil y los demás vecinos\n\n- No hay nada más que decir hoy."] * 3
    assert titles(compiled(notes(*french, *spanish)), "topic") == []


@pytest.mark.parametrize(
    ("texts", "topic"),
    [
        (
            ["Long day. The lipase is dead above 50 °C.", "Repeated it. The lipase was clear.", "Wrote of the lipase."],
            "Lipase",
        ),
        (
            [
                "Respiration was high in plot four, as expected.",
                "Nothing new. Respiration is low again.",
                "We talked of the respiration.",
            ],
            "Respiration",
        ),
        (
            [
                "The plate reader is broken, error 14.",
                "Wanda needs the plate reader on that day.",
                "I measured it with the plate reader, at last.",
            ],
            "Plate reader",
        ),
    ],
)
def test_nouns_that_short_english_notes_are_about_are_topics(texts: list[str], topic: str) -> None:
    assert titles(compiled(notes(*texts))) == [topic]


@pytest.mark.parametrize(
    "texts",
    [
        ["The weather was awful. We stayed.", "The weather is fine. We left.", "Nothing to say of the weather."],
        ["Later is better. We stayed.", "Cold as usual. Somebody was late.", "Nearly everybody was late."],
        ["Dinner was late again.", "Dinner is at eight.", "We talked over dinner."],
    ],
)
def test_everyday_words_are_no_topics(texts: list[str]) -> None:
    assert titles(compiled(notes(*texts))) == []


def test_a_french_noun_of_agenda_items_in_three_notes_is_a_topic() -> None:
    texts = [
        "- Bénévoles : Gaspard lance un appel sur le site.",
        "- Bénévoles : 22. On prévoit une soirée.",
        "- La soirée des bénévoles est réussie, dit-on.",
    ]
    assert titles(compiled(notes(*texts)), "topic") == ["Bénévoles"]
    without_colon = [text.replace("Bénévoles :", "Avec les bénévoles,") for text in texts]
    assert titles(compiled(notes(*without_colon)), "topic") == []


def test_two_word_agenda_items_are_topics_unless_common() -> None:
    texts = ["Stability test: 12 mV lost in 24 hours.", "Stability test on foam started.", "Stability test, 24 hours."]
    assert titles(compiled(notes(*texts)), "topic") == ["Stability test"]
    steps = ["Next steps: ask for the gasket in May.", "Next steps on foam started.", "Next steps, 24 hours."]
    assert titles(compiled(notes(*steps)), "topic") == []


def test_opening_phrases_with_adjectives_or_verbs_are_no_topics() -> None:
    assert titles(compiled(notes("Quiet run in the park.", "Quiet run at noon.", "Quiet run, then tea."))) == []
    assert titles(compiled(notes("Ordered primers for it.", "Ordered primers at noon.", "Ordered primers."))) == []


def test_the_label_of_a_german_mail_header_is_no_topic() -> None:
    mails = [f"Betreff: Antrag für den Bus, Teil {part}\n\nSehr geehrte Damen und Herren." for part in "ABC"]
    assert "Betreff" not in titles(compiled(notes(*mails)))


def test_a_verb_after_a_name_is_no_part_of_the_name() -> None:
    assert titles(compiled(notes("Maggie rang at eight.", "Maggie rang, as ever.", "Maggie rang again."))) == ["Maggie"]


def test_a_common_noun_in_two_decisions_is_no_topic() -> None:
    texts = [
        "We decided to host Pelias for geocoding, because the bill is high.",
        "We decided to keep Pelias for geocoding, because it works.",
    ]
    assert titles(compiled(notes(*texts)), "topic") == []


def test_the_subject_of_a_title_needs_one_more_note_that_contains_it() -> None:
    titled = "# Asparagus\n\nThe book says not to cut the asparagus yet."
    assert titles(compiled(notes(titled, "Weeded around the asparagus, then rain."))) == ["Asparagus"]
    assert titles(compiled(notes(titled, "# Asparagus\n\nNothing to see yet."))) == ["Asparagus"]
    assert titles(compiled(notes(titled, "Weeded around the beds, then rain."))) == []


def test_a_noun_that_every_title_repeats_is_no_topic() -> None:
    texts = [f"# Platform sync\n\n{text}" for text in ("Nothing new.", "It was short.", "Nobody came.")]
    assert titles(compiled(notes(*texts))) == []
    numbered = [f"# Rehearsal {n} March\n\nThe rehearsal was fine." for n in (2, 9, 16)]
    assert "Rehearsal" not in titles(compiled(notes(*numbered)))


def test_title_subjects_are_leading_noun_phrases() -> None:
    assert list(title_subjects("Single sign-on for two domains", "en")) == ["Single sign-on"]
    assert list(title_subjects("Elderflower again", "en")) == ["Elderflower"]
    for title in ("Moved the beds", "Rehearsal 9 March", "Slow search"):
        assert list(title_subjects(title, "en")) == []


def test_a_dated_file_name_is_the_title_of_a_note_without_a_title() -> None:
    texts = ("The projector shows magenta again.", "I took a lamp out of the projector.")
    for ref, expected in (("2026-04-01 Projector again.md", ["Projector"]), ("plain.md", [])):
        first, second = notes(*texts)
        assert titles(compiled([replace(first, ref=ref), second])) == expected


def test_a_field_value_earns_a_page_without_its_version_number() -> None:
    for value, name in (("Acme Desk 3.2", "Acme Desk"), ("Quill & Sons", "Quill & Sons")):
        text = f"# Trouble\n\nCustomer: {value}\nStatus: open\n\nNothing works in"
        assert titles(compiled(notes(f"{text} May.", f"{text} the hall."))) == [name]


TERMS = (
    "The pool is full, so we put pgbouncer before it.",
    "In the end it was pgbouncer again, which we had not seen.",
    "Put the new pgbouncer on the second host, and then wait.",
)


def test_an_unknown_word_in_three_short_notes_is_a_topic() -> None:
    assert titles(compiled(notes(*TERMS)), "topic") == ["Pgbouncer"]
    assert titles(compiled(notes(*TERMS[1:])), "topic") == []
    assert titles(compiled(notes(*[text.replace("pgbouncer", "harbour") for text in TERMS])), "topic") == []


def test_an_unknown_word_in_long_or_linking_notes_is_no_topic() -> None:
    long = " It rained, and nobody said much about it." * 20
    assert titles(compiled(notes(*[text + long for text in TERMS])), "topic") == []
    assert "Pgbouncer" not in titles(compiled(notes(*[f"{text} See [[Host]]." for text in TERMS])), "topic")


def test_singular_and_plural_of_an_acronym_share_a_page() -> None:
    texts = (
        "We fit a GAMM to the data of the year.",
        "All the GAMMs are done now.",
        "And the GAMM was what we had in mind.",
    )
    assert titles(compiled(notes(*texts))) == ["GAMM"]


@pytest.mark.parametrize("batch", [1, 50])
def test_a_chinese_noun_of_several_words_has_one_page(batch: int) -> None:
    texts = ["小区的缆车检修公告出来了。", "缆车检修公告以后大家很高兴。", "听说缆车检修公告，又改了。"]
    assert [title for title in titles(compiled(notes(*texts), batch)) if "检修" in title] == ["缆车检修公告"]
