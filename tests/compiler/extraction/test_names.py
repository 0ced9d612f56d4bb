"""Which names one source sees, in which language."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.extraction.decisions import TAKEN, may_decide
from compiler.extraction.names.phrases import phrases
from compiler.extraction.readings import Reading
from compiler.extraction.texts.text import fold_text
from content.names import normalise
from tests.compiler.extraction.stories import compiled, leading_names, note, page, refs, story, titles


def names(text: str) -> set[str]:
    return {key for key, sighting in Reading(note(0, text)).sightings.items() if sighting.marks != {"noun"}}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Theo and I repaired the boat, and it was a long day.", "theo"),
        ("Théo et moi avons fini la terrasse avec les enfants.", "theo"),
        ("Jonas und ich haben das Boot gestrichen.", "jonas"),
        ("Das ist schön, denn meine Schwester Klara zieht um.", "klara"),
        ("Wir waren heute auf dem Schlossberg und es war kalt.", "schlossberg"),
        ("Die Markthalle Neun war voll und es gab kein Brot.", "markthalle neun"),
        ("今天在星光酒吧见到老周。", "星光酒吧"),
        ("我和陈思远去爬山。", "陈思远"),
        ("李娜写信来了。", "李娜"),
        ("健太と川沿いを走った。", "健太"),
        ("田中と打ち合わせをした。", "田中"),
        ("兄の健一が遊びに来た。", "健一"),
        ("弟の拓海と甘酒を飲んだ。", "拓海"),
        ("発表会は市民ホールで六月にある。", "市民ホール"),
        ("パンはベーカリー風車で買った。", "ベーカリー風車"),
        ("合唱団の練習に行った。", "合唱団"),
        ("We asked Hyun-woo for the samples and waited.", "hyun-woo"),
        ("Oggi non c'era nessuno, e Rektorin Haberland non ha scritto.", "rektorin haberland"),
        ("Giulia ha pianto, e poi siamo andati via.", "giulia"),
        ("Growth chamber 2 is warm, and we repaired growth chamber 2 again.", "growth chamber 2"),
        ("猫のモモを病院へ連れて行った。", "モモ"),
        ("夜、クロが膝で寝た。", "クロ"),
        ("健一と花火を見た。", "健一"),
        ("村瀬教授の授業は難しい。", "村瀬"),
        ("Angra do Heroísmo fica para amanhã, e hoje não há mais nada.", "angra do heroismo"),
        ("Villa de la Roca está lejos, pero hemos llegado a tiempo.", "villa de la roca"),
        ("We cut pRK-15 again and then it was late.", "prk-15"),
        ("M. Kacimi relance le plombier et il attend la réponse.", "m kacimi"),
        ("Nous avons vu que M. Tran est candidat cette année.", "m tran"),
        ("Ontem fomos de barco para São Jorge e o mar estava calmo.", "são jorge"),
        ("Hemos pasado la tarde en San Telmo y hacía mucho calor.", "san telmo"),
        ("Le train pour Saint Malo est parti sans nous ce matin.", "saint malo"),
        ("A Fajã da Caldeira de Santo Cristo só se alcança a pé.", "fajã da caldeira de santo cristo"),
        ("He dicho a Don Emilio que la caldera no funciona.", "don emilio"),
        ("喫茶ひまわりで朝ごはん。", "喫茶ひまわり"),
    ],
)
def test_a_name_is_seen(text: str, name: str) -> None:
    assert normalise(name) in names(text)


def test_a_chinese_name_counts_between_words_of_grammar_once_a_note_shows_a_person() -> None:
    """A verb of speech shows that the name is a person's. Without one, a word that could be a name is no evidence."""
    assert "许岩" in titles(compiled(story("许岩说明天见。", "今天许岩借了车。")))
    assert "许岩" not in titles(compiled(story("许岩说明天见。", "这张照片很好。")))
    assert "许岩" not in titles(compiled(story("今天许岩借了车。", "这张照片给了许岩。")))
    assert titles(compiled(story("这是方案。", "又改了方案。", "有了方案。"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "Wir waren auf dem Spielplatz und im Supermarkt, und das war es.",
        "Das ist der Inhalt der Seite und die Anzahl der Ergebnisse.",
        "马上去学校。高兴去看电影。",
        "椅子が壊れた。帽子と菓子を買った。",
        "Tutto era bello e non c'era altro da fare.",
        "It is a Unix-like system, and here is the cloud-based one.",
        "昨日コーヒーを飲んだ。妻の料理と散歩。",
        "猫の餌を買った。犬の散歩に行った。母の誕生日に帰る。",
        "パンを食べた。バスが来た。計画の統一が必要だ。",
        "Now and I mean it, this is over.",
        "The pH was low and 3 kWh were used up again.",
        "São as melhores tardes do ano, e não há mais nada.",
        "Il n'y a plus rien, et la lettre M. est illisible.",
    ],
)
def test_a_common_word_is_none(text: str) -> None:
    assert names(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "Then select Copy and wait.",
        "Here you can click on the Export button.",
        "Dort klicken Sie auf Speichern und warten.",
        "Ensuite, cliquez sur Ajouter pour finir.",
        "Pour finir, sélectionnez Général dans la liste.",
    ],
)
def test_what_is_to_be_pressed_is_no_name(text: str) -> None:
    assert names(text) == set()


def test_who_links_what_matters_says_of_other_capitals_that_they_matter_less() -> None:
    linked = "In [[Lisbon]] with [[Priya Raman]] at [[Taberna]], and we talked about Dropbox with Marco."
    assert "Dropbox" not in titles(compiled(story(*[linked] * 8)))
    assert "Dropbox" in titles(compiled(story(*[linked] * 9)))
    assert "Marco" in titles(compiled(story(*[linked] * 3))), "people are never beside the point"
    assert "Dropbox" in titles(compiled(story(*["We talked about Dropbox with Marco."] * 3)))


@given(st.from_regex(re.compile(TAKEN.pattern, re.IGNORECASE)))
def test_what_quickly_is_no_decision_is_none(text: str) -> None:
    assert may_decide(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We asked Jun Takeda and then left for the harbour again.", "jun takeda"),
        ("Am Samstag presst die Mosterei Böhlitz unsere Äpfel.", "mosterei bohlitz"),
        ("Wir haben die Parzelle 48 gepachtet, sie ist schön.", "parzelle 48"),
        ("今天我用Hugo写博客,很快就写好了。", "hugo"),
        ("会话都要迁到星环数据库,下周开始。", "星环数据库"),
        ("客户远山物流要来参观我们的办公室。", "远山物流"),
        ("这是陆秋白的新书,写得很好。", "陆秋白"),
    ],
)
def test_a_name_is_known_by_what_stands_around_it(text: str, name: str) -> None:
    assert name in names(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("We met in May Street after the call.", "may"),
        ("Dann ein Glas Wasser und die Idee Urlaub.", "idee urlaub"),
        ("昨天我装了新的操作系统,还有管理系统。", "操作系统"),
        ("The file goes by SMS or over the VPN as usual.", "sms"),
    ],
)
def test_a_kind_of_thing_is_no_name(text: str, word: str) -> None:
    assert word not in names(text)


def test_the_number_of_a_title_in_its_series_is_none_of_its_names() -> None:
    sightings = Reading(note(0, "Disk costs rise this year.", title="ADR 2: Keep the events in Kafka")).sightings
    assert sightings["kafka"].marks == {"name", "titled"}
    assert "adr" not in sightings


def test_a_surname_stands_for_the_only_one_who_has_it_with_a_title() -> None:
    wiki = compiled(
        story(
            "Lageplan mit Frau Wieczorek durchgegangen. Es regnet.",
            "Abnahme durch Wieczorek ohne Mängel. Danach Kaffee.",
            "Heute kam Post. Wieczorek kommt am Donnerstag.",
        )
    )
    assert titles(wiki, "entity") == ["Frau Wieczorek"]
    two = [
        "Lunch with Mrs Hale by the canal.",
        "Lunch with Mr Hale by the canal.",
        "We told Hale about the lock. It rained.",
    ]
    assert titles(compiled(story(*two)), "entity") == []


def test_a_firm_goes_by_its_name_without_the_kind_of_firm_before_it() -> None:
    wiki = compiled(
        story(
            "Beton kommt morgen aus Werk Lüdenau, sagt der Fahrer.",
            "Es regnet. Lüdenau liefert falschen Zement.",
            "Gestern war Ruhe. Werk Lüdenau entschuldigt sich mit einer Kiste Bier.",
        )
    )
    assert titles(wiki, "entity") == ["Werk Lüdenau"]
    assert "ludenau" in leading_names(wiki)


TOLD = ("Daisy says the leeks can wait.", "Daisy lost all of her dahlias.", "Daisy brought a cake for no reason.")


def test_a_word_that_only_begins_sentences_is_somebody_where_two_sources_say_what_people_do() -> None:
    assert titles(compiled(story(*TOLD))) == ["Daisy"]
    assert titles(compiled(story(TOLD[0], TOLD[1], "Daisy had it behind the shed."))) == []


def test_a_word_that_no_dictionary_has_needs_only_to_begin_sentences_of_short_notes() -> None:
    said = ("{} is sharp today.", "Rain. {} by the door.", "{} needs oil.")
    assert titles(compiled(story(*[text.format("Zyliss") for text in said[:2]]))) == ["Zyliss"]
    for word in ("Knife", "Kestrel", "Optionally"):
        assert titles(compiled(story(*[text.format(word) for text in said]))) == []
    long = "It rained, and nobody said much about it. " * 20
    assert titles(compiled(story(*[f"{text.format('Zyliss')} {long}" for text in said]))) == []


def test_a_rare_word_is_a_name_where_three_short_notes_begin_with_it_and_one_says_what_it_does() -> None:
    said = (
        "Kestrel is late with the money today.",
        "It rained all day. Kestrel in the evening.",
        "Kestrel at the door of the house.",
    )
    assert titles(compiled(story(*said))) == ["Kestrel"]
    assert titles(compiled(story(*said[:2]))) == []
    assert titles(compiled(story(*[one.replace(" is late", ", late as ever,") for one in said]))) == []
    assert titles(compiled(story(*[one.replace("Kestrel", "Knife") for one in said]))) == []


def test_a_rare_name_of_three_letters_may_begin_sentences() -> None:
    said = (
        "We had to wait for Lea at the door.",
        "Lea scans her letters in the house.",
        "And in the end it was not for Lea.",
    )
    assert titles(compiled(story(*said))) == ["Lea"]


def test_what_is_named_in_a_title_and_its_first_word_are_one() -> None:
    said = ("# Tideway Clinic – the first visit\n\nThey want to sign in.", "We have news from Tideway about the money.")
    assert titles(compiled(story(*said))) == ["Tideway Clinic"]
    assert titles(compiled(story(*[one.replace("Tideway", "Market") for one in said]))) == []


def test_what_a_french_manual_tells_to_do_is_no_name() -> None:
    said = ("Cliquez sur le bouton de la page.", "Cliquez dans la liste et fermez-la.", "Cliquez pour voir le menu.")
    assert titles(compiled(story(*said)), "entity") == []


def test_no_word_is_rare_where_a_note_does_not_show_its_language() -> None:
    assert titles(compiled(story("Zahnarzt: Dienstag, 9:30.", "Zahnarzt: Mittwoch.", "Zahnarzt: Montag, 8:00."))) == []


@pytest.mark.parametrize("usual", ["Aussitôt", "Lavoro", "Reuniões", "Vergadering"])
def test_usual_words_of_other_languages_are_no_names_where_they_begin_sentences(usual: str) -> None:
    languages = {"Aussitôt": "la porte était ouverte et nous sommes partis avec les autres.",
        "Lavoro": "in casa anche oggi, e poi siamo andati dal medico con la macchina.",
        "Reuniões": "com a equipa até às seis, e depois fomos para casa de comboio.",
        "Vergadering": "over het dak, en daarna zijn we met de trein naar huis gegaan."}  # fmt: skip
    assert titles(compiled(story(*[f"{usual} {languages[usual]} {n}" for n in range(3)])), "entity") == []


def test_who_only_begins_sentences_is_somebody_by_what_people_do_at_work() -> None:
    texts = ["The pattern came back (Fumiko).", "Fumiko mailed the bill.", "Fumiko visits us on that day."]
    assert titles(compiled(story(*texts))) == ["Fumiko"]
    assert titles(compiled(story("The paint came (Amber).", "Amber dries slowly.", "Amber costs more now."))) == []


@pytest.mark.parametrize("name", ["編み物教室", "鶴岡八幡宮"])
def test_a_japanese_name_of_a_class_or_a_shrine(name: str) -> None:
    assert name in names(f"今日は{name}に行った。楽しかった。")


def test_a_code_that_begins_with_a_small_letter_is_written_as_it_is() -> None:
    texts = ["We cut pRK-15 again.", "Nothing grew on pRK-15 today.", "The clone of pRK-15 is right."]
    assert titles(compiled(story(*texts))) == ["pRK-15"]


@pytest.mark.parametrize(
    "said",
    [
        "hemos decidido alquilar todo agosto",
        "he comprado pan y nada más",
        "mañana voy yo en coche",
        "amanhã vou de comboio com todos",
        "domani vado dal medico e poi a casa",
    ],
)
def test_who_speaks_of_herself_by_the_verb_alone_is_named(said: str) -> None:
    text = f"Carmen: {said}\nJavi: vale\nCarmen: hasta luego\nJavi: hasta luego\n"
    sentences = Reading(note(0, text)).sentences
    assert "carmen" in sentences[0].words
    assert "carmen" not in sentences[2].words


def test_whom_an_english_speaker_tells_of_is_not_the_speaker() -> None:
    text = "Carmen: he bought bread\nJavi: good\nCarmen: he is late\nJavi: well\n"
    assert "carmen" not in Reading(note(0, text)).words


@pytest.mark.parametrize("nobody", ["Nessuno", "Qualcuno", "Tutto"])
def test_nobody_in_particular_is_no_name(nobody: str) -> None:
    assert titles(compiled(story(*[f"{nobody} ha scritto, e poi siamo andati via."] * 3))) == []


def test_what_begins_with_a_noun_and_goes_on_small_is_no_name() -> None:
    assert titles(compiled(story(*["Fotos de la cena con todos, y después no hubo nada más."] * 3))) == []


@pytest.mark.parametrize("batch", [1, 50])
@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (
            [
                "堀口先生の個展を見た。",
                "堀口先生に会った。",
                "今日は堀口さんが来た。",
                "堀口先生の皿。",
                "堀口さんと話す。",
            ],
            "堀口先生",
        ),
        (["今天王芳老师讲课。", "王芳老师说很好。", "我和王芳说再见。", "王芳说她来。", "见到王芳老师。"], "王芳老师"),
    ],
)
def test_somebody_has_one_page_with_and_without_a_role(texts: list[str], title: str, batch: int) -> None:
    wiki = compiled(story(*texts), batch)
    assert len(titles(wiki)) == 1
    assert leading_names(wiki) >= {title, title[:2]}


def test_two_letters_of_katakana_are_somebody_only_where_one_source_says_so() -> None:
    assert titles(compiled(story("モモが膝で寝た。", "モモを連れて行く。", "モモと昼寝。"))) == ["モモ"]
    assert titles(compiled(story("モモを買った。", "モモを切る。", "モモとリンゴ。"))) == []


def test_two_letters_of_katakana_that_four_sources_say_are_somebody() -> None:
    assert titles(compiled(story("マリは絵を描く。", "マリに頼む。", "マリと話す。", "マリが直す。"))) == ["マリ"]


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["Batch 7 on E3.", "Fumiko measured batch 7.", "The rest of batch 7 is worse."], "Batch 7"),
        (
            [
                "La parcelle 12 est fermée.",
                "Nous étions dans la parcelle 12.",
                "On ouvre la parcelle 12 et tout va bien.",
            ],
            "Parcelle 12",
        ),
    ],
)
def test_a_number_names_what_it_stands_behind(texts: list[str], title: str) -> None:
    assert titles(compiled(story(*texts)), "entity") == [title]


@pytest.mark.parametrize(
    "text",
    [
        "We took 12 cores and walked about 40 miles.",
        "It was minute 14 and page 3 of chapter 2.",
        "Heated to 120 °C, then diluted with 20 ml.",
        "The price rose 15 % and the ratio is below 1.5 now.",
        *(f"We have many shops, and MRR {number} is not enough." for number in ("1,148", "3,8", "9:30")),
    ],
)
def test_a_number_of_things_is_no_name(text: str) -> None:
    assert not [name for name in names(text) if any(map(str.isdigit, name))]


def test_two_people_that_a_spanish_sentence_joins_are_two() -> None:
    wiki = compiled(story(*[f"Ayer, por la noche, cenamos con Nadja y Ruben en la casa, día {n}." for n in range(3)]))
    assert titles(wiki, "entity") == ["Nadja", "Ruben"]


def test_somebody_by_another_name_has_one_page() -> None:
    told = ("Letter of Aunt Tilda.", "So Matilda is Aunt Tilda.", "Matilda was born here.", "We met Aunt Tilda again.")
    wiki = compiled(story(*told, "Matilda moved, says her son.", "A letter by Aunt Tilda."))
    assert titles(wiki) == ["Aunt Tilda"]
    assert "matilda" in leading_names(wiki)


def test_names_side_by_side_and_what_somebody_does_are_no_subjects() -> None:
    said = ("Luis → Rafe", "Handover. Luis → Rafe", "Rain. Luis → Rafe")
    assert "Luis Rafe" not in titles(compiled(story(*said)))
    assert titles(compiled(story(*[f"Nothing new. Hattie wants a bath. {n}" for n in range(3)])), "topic") == []


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["我用Hugo写博客，很快。", "今天用Hugo写了一篇文章。", "又用Hugo写日记了。"], "Hugo"),
        (["Steam Deckで動作確認した。", "Steam Deckを買った。", "Steam Deckで遊ぶ。"], "Steam Deck"),
        (["iPhone15の充電が遅い。", "iPhone15を買った。", "iPhone15は重い。"], "iPhone15"),
    ],
)
def test_a_name_in_latin_letters_is_quoted_from_texts_without_spaces(texts: list[str], title: str) -> None:
    wiki = compiled(story(*texts))
    assert titles(wiki) == [title]
    assert refs(wiki, page(wiki, title).sections["notes"].source_ids) == ["n0", "n1", "n2"]


def test_a_name_of_both_scripts_is_found_as_it_is_written() -> None:
    wiki = compiled(story("我在B站看视频。", "去B站听歌，很好。", "B站关了。", tags=["B站"]))
    told = "".join(section.body for section in page(wiki, "B站").sections.values())
    assert all(one in told for one in ("我在B站看视频。", "去B站听歌，很好。", "B站关了。"))
    assert {"b站", "我在"} <= phrases(Reading(note(0, "我在B站看视频。")))


def test_only_scripts_without_spaces_are_parted_from_latin_letters() -> None:
    assert fold_text("Việt Nam, résumé, Łódź") == " viet nam resume lodz "
    assert fold_text("我用Hugo0写B站") == " 我用 hugo0 写 b 站 "
