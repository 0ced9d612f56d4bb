"""Writers of chats, diaries and blogs say what they decided in the first person, or leave out the subject."""

import pytest

from compiler.extraction.decisions.decisions import decisions
from compiler.extraction.readings import Reading
from tests.compiler.extraction.stories import compiled, note, titles


def found(text: str, title: str | None = None) -> list[str]:
    """Return the titles of the decisions with pages in a text."""
    return [decision.title for decision in decisions(Reading(note(0, text, title=title)))]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("I've decided to sell the piano, because nobody plays it.", "Sell the piano"),
        ("I’ve finally decided to sell the piano as it’s out of tune.", "Sell the piano"),
        ("We've agreed to meet at Nora's since the pub is shut.", "Meet at Nora's"),
        ("I turned down the job at Helix because of the commute.", "Turned down the job at Helix"),
        ("I gave notice at Helix because the nights are too long.", "Gave notice at Helix"),
        ("I left Tunely for Sonora because of the sound.", "Left Tunely for Sonora"),
        ("I'm dropping Tunely, too many adverts.", "Dropping Tunely"),
        ("I went with the Bianchi instead of the Trek because it fits.", "Went with the Bianchi instead of the Trek"),
        ("We compared three. So Bianchi it is.", "Bianchi it is"),
        ("Nobody asked for it. So there goes the second shop.", "There goes the second shop"),
        ("The rent went up again. So I moved everything to Helix.", "Moved everything to Helix"),
        ("No more Tunely for me, too expensive.", "No more Tunely for me"),
        ("From March I work at Helix because the commute is shorter.", "From March I work at Helix"),
        ("Ich hab das Abo bei Tunely gekündigt, weil ich nur Radio höre.", "Hab das Abo bei Tunely gekündigt"),
        ("Change of plans: we fly from Basel.", "We fly from Basel"),
        ("OK so it's settled: we take the night train.", "We take the night train"),
        ("Ich bleibe bei Donnervogel, weil Aussicht nervt.", "Ich bleibe bei Donnervogel"),
        ("Ich kaufe kein Fleisch mehr bei Rewe, zu teuer.", "Kaufe kein Fleisch mehr bei Rewe"),
        ("Bis Mai sind alle drei leer, drum lieber gleich der Tank von Holt.", "Lieber gleich der Tank von Holt"),
        ("J'ai renoncé à la Clio, trop chère.", "Renoncé à la Clio"),
        ("Me quedo con la Fuji porque pesa menos.", "La Fuji"),
        ("Decidi vender o Corsa porque gasta muito.", "Vender o Corsa"),
        ("Ho disdetto Netflix perché non lo guardo.", "Disdetto Netflix"),
    ],
)
def test_decisions_are_read_in_the_first_person(text: str, title: str) -> None:
    assert found(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        "She turned down the job at Helix because of the commute.",
        "Nora said I turned down the job at Helix because of the commute.",
        "I almost turned down the job at Helix because of the commute.",
        "I would have turned down the job at Helix because of the commute.",
        "Have I turned down Helix because of the commute?",
        "I might go with the Bianchi because it fits.",
        "I usually go with the Bianchi because it fits.",
        "If I turned down Helix, Nora would cry because she likes it.",
        "I went with Nora.",
        "I know how it is.",
        "So there goes the weekend.",
        "I moved to Basel in May.",
        "Ich habe angenommen, dass Nora kommt, weil sie es gesagt hat.",
    ],
)
def test_reports_wishes_habits_and_doubts_in_the_first_person_are_no_decisions(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("最后决定自己修屋顶，不请工人了。", "自己修屋顶，不请工人了"),
        ("想了一周，决定留在苏州。主要是父母年纪大了。", "留在苏州"),
        ("和小林商量了，以后不再订牛奶，全换成豆浆。", "以后不再订牛奶，全换成豆浆"),
        ("试过 Notely，太慢，所以选了 Jotter。", "选了 Jotter"),
        ("用了两年，还是放弃了 Notely，换成 Jotter。", "还是放弃了 Notely，换成 Jotter"),
        ("最后商量好：春节去苏州过。", "春节去苏州过"),
        ("对比了三台，最终选择了富士 X100。", "选择了富士 X100"),
        ("经讨论，决定把仓库搬到松江，因为租金便宜。", "把仓库搬到松江"),
        ("车库太小，决定退掉健身卡，因为一年只去了三次。", "退掉健身卡"),
        ("車検が高いので、軽自動車に買い替えることにした。", "軽自動車に買い替える"),
        ("NotelyからJotterへ移行した。同期が遅いため。", "NotelyからJotterへ移行した"),
        ("B案で行く。Jotterのほうが軽いため。", "B案で行く"),
        ("パソコンはMacBookにした。軽いから。", "パソコンはMacBookにした"),
        ("광고가 많아서 Tunely를 끊기로 했다.", "광고가 많아서 Tunely를 끊기로 했다"),
    ],
)
def test_decisions_are_read_from_sentences_without_a_subject(text: str, title: str) -> None:
    assert found(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        "他最后选了富士，因为轻。",
        "公司决定把仓库搬到松江，因为便宜。",
        "如果 Notely 太贵，就换成 Jotter。",
        "你可以换成 Jotter，因为免费。",
        "我想换成 Jotter，因为快。",
        "这是决定性的因素，因为 Jotter 快。",
        "要不要换成 Jotter？",
        "遅ければJotterへ移行する。",
        "Jotterを使うことにするか。",
    ],
)
def test_others_conditions_and_wishes_without_a_subject_are_no_decisions(text: str) -> None:
    assert found(text) == []


def test_the_title_of_a_personal_post_is_a_decision() -> None:
    text = "I used Tunely for years. My bill doubled in May. It plays what I like on a Sonora box now, and I am glad."
    assert found(text, "Leaving Tunely") == ["Leaving Tunely"]
    assert found(text, "Why I left Tunely") == ["Left Tunely"]
    assert found(text, "A year with Tunely") == []
    manual = "Open the settings of Tunely. Choose the export. Save the file."
    assert found(manual, "Moving from Tunely") == [], "a manual"
    (page,) = [page for page in compiled([note(0, text, title="Leaving Tunely")]).all if page.card.type == "decision"]
    assert page.card.title == "Leaving Tunely"


def test_a_title_and_a_sentence_about_the_same_decision_make_one_page() -> None:
    text = "I've decided to leave Tunely because my bill doubled. I found Sonora. My ears like it."
    assert titles(compiled([note(0, text, title="Leaving Tunely")]), "decision") == ["Leave Tunely"]


def test_character_references_of_an_exported_blog_are_read() -> None:
    (decision,) = decisions(Reading(note(0, "I&#8217;ve decided to sell the Vortek because it&#8217;s loud.")))
    assert (decision.title, decision.why) == ("Sell the Vortek", "because it’s loud.")
    assert decision.sentence.text == "I’ve decided to sell the Vortek because it’s loud."
