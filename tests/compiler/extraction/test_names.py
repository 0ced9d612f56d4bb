"""Names are found in the sentences of one source, in many languages."""

import pytest

from compiler.extraction.readings import Reading
from content.names import normalise
from tests.compiler.extraction.stories import compiled, leading_names, note, notes, titles


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
        ("我和陈思远爬山。", "陈思远"),
        ("周末跟老韩和小乔吃饭。", "老韩"),
        ("何总来看样品。", "何总"),
        ("邻居何阿姨送来饺子。", "何阿姨"),
        ("見到陳靜老師。", "陳靜老師"),
        ("周末去大蜀山跑步。", "大蜀山"),
        ("孩子想去浣花溪公园。", "浣花溪公园"),
        ("先把备份交给restic，再说别的。", "restic"),
        ("阿May说下周演示。", "阿may"),
        ("つつじ保育園から電話があった。", "つつじ保育園"),
        ("今日はみのり会の集まりだ。", "みのり会"),
        ("6/2 からつつじ保育園で始める。", "つつじ保育園"),
        ("園のiPadが壊れた。", "ipad"),
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
def test_a_name_is_found_in_a_sentence(text: str, name: str) -> None:
    assert normalise(name) in names(text)


def test_a_chinese_word_that_no_dictionary_has_is_a_name() -> None:
    assert "许岩" in titles(compiled(notes("许岩说明天见。", "今天许岩借了车。")))
    assert "许岩" in titles(compiled(notes("今天许岩借了车。", "这张照片给了许岩。")))
    assert "许岩" not in titles(compiled(notes("许岩说明天见。", "这张照片很好。")))
    assert "蓝隼" in titles(compiled(notes("合同发给了蓝隼。", "蓝隼的报价太高。", "今天去蓝隼开会。")))
    assert titles(compiled(notes("这是方案。", "又改了方案。", "有了方案。"))) == []


@pytest.mark.parametrize(
    "text",
    [
        "Wir waren auf dem Spielplatz und im Supermarkt, und das war es.",
        "Das ist der Inhalt der Seite und die Anzahl der Ergebnisse.",
        "马上去学校。高兴去看电影。",
        "小时候的老师傅说，三楼的会议室很安静。",
        "我们吃面，然后看看这个方案的结论。",
        "把这个commit合并到main。",
        "うちの会社の会議は長い。やさしい会だった。",
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
def test_common_words_are_no_names(text: str) -> None:
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
def test_button_labels_are_no_names(text: str) -> None:
    assert names(text) == set()


def test_unlinked_names_count_less_in_notes_with_links() -> None:
    linked = "In [[Lisbon]] with [[Priya Raman]] at [[Taberna]], and we talked about Dropbox with Marco."
    assert "Dropbox" not in titles(compiled(notes(*[linked] * 8)))
    assert "Dropbox" in titles(compiled(notes(*[linked] * 9)))
    assert "Marco" in titles(compiled(notes(*[linked] * 3))), "people count everywhere"
    assert "Dropbox" in titles(compiled(notes(*["We talked about Dropbox with Marco."] * 3)))


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
def test_a_name_is_found_by_its_context(text: str, name: str) -> None:
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
def test_generic_words_are_no_names(text: str, word: str) -> None:
    assert word not in names(text)


def test_the_series_label_of_a_title_is_no_name() -> None:
    sightings = Reading(note(0, "Disk costs rise this year.", title="ADR 2: Keep the events in Kafka")).sightings
    assert sightings["kafka"].marks == {"name", "titled"}
    assert "adr" not in sightings


def test_a_bare_surname_leads_to_the_only_titled_person_with_it() -> None:
    wiki = compiled(
        notes(
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
    assert titles(compiled(notes(*two)), "entity") == []


def test_the_name_of_a_firm_without_its_kind_is_an_alias() -> None:
    wiki = compiled(
        notes(
            "Beton kommt morgen aus Werk Lüdenau, sagt der Fahrer.",
            "Es regnet. Lüdenau liefert falschen Zement.",
            "Gestern war Ruhe. Werk Lüdenau entschuldigt sich mit einer Kiste Bier.",
        )
    )
    assert titles(wiki, "entity") == ["Werk Lüdenau"]
    assert "ludenau" in leading_names(wiki)


DAISY = ("Daisy says the leeks can wait.", "Daisy lost all of her dahlias.", "Daisy brought a cake for no reason.")


def test_a_sentence_initial_name_needs_human_verbs_in_two_sources() -> None:
    assert titles(compiled(notes(*DAISY))) == ["Daisy"]
    assert titles(compiled(notes(DAISY[0], DAISY[1], "Daisy had it behind the shed."))) == []


def test_an_unknown_sentence_initial_word_is_a_name_in_short_notes() -> None:
    texts = ("{} is sharp today.", "Rain. {} by the door.", "{} needs oil.")
    assert titles(compiled(notes(*[text.format("Zyliss") for text in texts[:2]]))) == ["Zyliss"]
    for word in ("Knife", "Kestrel", "Optionally"):
        assert titles(compiled(notes(*[text.format(word) for text in texts]))) == []
    long = "It rained, and nobody said much about it. " * 20
    assert titles(compiled(notes(*[f"{text.format('Zyliss')} {long}" for text in texts]))) == []


def test_a_rare_sentence_initial_word_needs_three_notes_and_a_verb() -> None:
    texts = (
        "Kestrel is late with the money today.",
        "It rained all day. Kestrel in the evening.",
        "Kestrel at the door of the house.",
    )
    assert titles(compiled(notes(*texts))) == ["Kestrel"]
    assert titles(compiled(notes(*texts[:2]))) == []
    assert titles(compiled(notes(*[text.replace(" is late", ", late as ever,") for text in texts]))) == []
    assert titles(compiled(notes(*[text.replace("Kestrel", "Knife") for text in texts]))) == []


def test_a_rare_three_letter_name_is_found_at_a_sentence_start() -> None:
    texts = (
        "We had to wait for Lea at the door.",
        "Lea scans her letters in the house.",
        "And in the end it was not for Lea.",
    )
    assert titles(compiled(notes(*texts))) == ["Lea"]


def test_a_name_in_a_title_and_its_first_word_share_a_page() -> None:
    pair = ("# Tideway Clinic – the first visit\n\nThey want to sign in.", "We have news from Tideway about the money.")
    assert titles(compiled(notes(*pair))) == ["Tideway Clinic"]
    assert titles(compiled(notes(*[text.replace("Tideway", "Market") for text in pair]))) == []


def test_french_imperatives_are_no_names() -> None:
    texts = ("Cliquez sur le bouton de la page.", "Cliquez dans la liste et fermez-la.", "Cliquez pour voir le menu.")
    assert titles(compiled(notes(*texts)), "entity") == []


def test_rare_words_earn_no_page_in_notes_of_unknown_language() -> None:
    assert titles(compiled(notes("Zahnarzt: Dienstag, 9:30.", "Zahnarzt: Mittwoch.", "Zahnarzt: Montag, 8:00."))) == []


@pytest.mark.parametrize("word", ["Aussitôt", "Lavoro", "Reuniões", "Vergadering"])
def test_common_words_at_a_sentence_start_are_no_names_in_any_language(word: str) -> None:
    languages = {"Aussitôt": "la porte était ouverte et nous sommes partis avec les autres.",
        "Lavoro": "in casa anche oggi, e poi siamo andati dal medico con la macchina.",
        "Reuniões": "com a equipa até às seis, e depois fomos para casa de comboio.",
        "Vergadering": "over het dak, en daarna zijn we met de trein naar huis gegaan."}  # fmt: skip
    assert titles(compiled(notes(*[f"{word} {languages[word]} {n}" for n in range(3)])), "entity") == []


def test_verbs_of_work_make_a_sentence_initial_word_a_person() -> None:
    texts = ["The pattern came back (Fumiko).", "Fumiko mailed the bill.", "Fumiko visits us on that day."]
    assert titles(compiled(notes(*texts))) == ["Fumiko"]
    assert titles(compiled(notes("The paint came (Amber).", "Amber dries slowly.", "Amber costs more now."))) == []


@pytest.mark.parametrize("name", ["編み物教室", "鶴岡八幡宮"])
def test_japanese_names_of_classes_and_shrines_are_found(name: str) -> None:
    assert name in names(f"今日は{name}に行った。楽しかった。")


def test_a_code_keeps_its_lowercase_first_letter() -> None:
    texts = ["We cut pRK-15 again.", "Nothing grew on pRK-15 today.", "The clone of pRK-15 is right."]
    assert titles(compiled(notes(*texts))) == ["pRK-15"]


@pytest.mark.parametrize(
    "turn",
    [
        "hemos decidido alquilar todo agosto",
        "he comprado pan y nada más",
        "mañana voy yo en coche",
        "amanhã vou de comboio com todos",
        "domani vado dal medico e poi a casa",
    ],
)
def test_a_romance_first_person_verb_names_the_speaker(turn: str) -> None:
    text = f"Carmen: {turn}\nJavi: vale\nCarmen: hasta luego\nJavi: hasta luego\n"
    sentences = Reading(note(0, text)).sentences
    assert "carmen" in sentences[0].words
    assert "carmen" not in sentences[2].words


def test_english_he_does_not_name_the_speaker() -> None:
    text = "Carmen: he bought bread\nJavi: good\nCarmen: he is late\nJavi: well\n"
    assert "carmen" not in Reading(note(0, text)).words


@pytest.mark.parametrize("pronoun", ["Nessuno", "Qualcuno", "Tutto"])
def test_italian_indefinite_pronouns_are_no_names(pronoun: str) -> None:
    assert titles(compiled(notes(*[f"{pronoun} ha scritto, e poi siamo andati via."] * 3))) == []


def test_a_spanish_noun_phrase_at_a_sentence_start_is_no_name() -> None:
    assert titles(compiled(notes(*["Fotos de la cena con todos, y después no hubo nada más."] * 3))) == []


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
def test_a_person_with_and_without_a_role_has_one_page(texts: list[str], title: str, batch: int) -> None:
    wiki = compiled(notes(*texts), batch)
    assert len(titles(wiki)) == 1
    assert leading_names(wiki) >= {title, title[:2]}


def test_two_katakana_letters_are_a_name_only_if_a_source_shows_a_person() -> None:
    assert titles(compiled(notes("モモが膝で寝た。", "モモを連れて行く。", "モモと昼寝。"))) == ["モモ"]
    assert titles(compiled(notes("モモを買った。", "モモを切る。", "モモとリンゴ。"))) == []


def test_two_katakana_letters_in_four_sources_are_a_name() -> None:
    assert titles(compiled(notes("マリは絵を描く。", "マリに頼む。", "マリと話す。", "マリが直す。"))) == ["マリ"]


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
def test_a_numbered_noun_is_an_entity(texts: list[str], title: str) -> None:
    assert titles(compiled(notes(*texts)), "entity") == [title]


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
def test_quantities_are_no_names(text: str) -> None:
    assert not [name for name in names(text) if any(map(str.isdigit, name))]


def test_two_people_joined_by_spanish_y_get_separate_pages() -> None:
    wiki = compiled(notes(*[f"Ayer, por la noche, cenamos con Nadja y Ruben en la casa, día {n}." for n in range(3)]))
    assert titles(wiki, "entity") == ["Nadja", "Ruben"]


def test_a_person_with_an_explained_nickname_has_one_page() -> None:
    texts = ("Letter of Aunt Tilda.", "So Matilda is Aunt Tilda.", "Matilda was born here.", "We met Aunt Tilda again.")
    wiki = compiled(notes(*texts, "Matilda moved, says her son.", "A letter by Aunt Tilda."))
    assert titles(wiki) == ["Aunt Tilda"]
    assert "matilda" in leading_names(wiki)


def test_adjacent_names_and_a_name_with_a_verb_are_no_subjects() -> None:
    texts = ("Luis → Rafe", "Handover. Luis → Rafe", "Rain. Luis → Rafe")
    assert "Luis Rafe" not in titles(compiled(notes(*texts)))
    assert titles(compiled(notes(*[f"Nothing new. Hattie wants a bath. {n}" for n in range(3)])), "topic") == []
