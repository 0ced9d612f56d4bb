"""Names are found in texts of scripts without spaces, also beside Latin letters."""

import pytest

from compiler.extraction.names.phrases import phrases
from compiler.extraction.readings import Reading
from compiler.extraction.texts.text import fold_text
from tests.compiler.extraction.stories import compiled, note, notes, page, refs, titles


@pytest.mark.parametrize(
    ("texts", "title"),
    [
        (["我用Hugo写博客，很快。", "今天用Hugo写了一篇文章。", "又用Hugo写日记了。"], "Hugo"),
        (["Steam Deckで動作確認した。", "Steam Deckを買った。", "Steam Deckで遊ぶ。"], "Steam Deck"),
        (["iPhone15の充電が遅い。", "iPhone15を買った。", "iPhone15は重い。"], "iPhone15"),
    ],
)
def test_a_latin_name_in_text_without_spaces_cites_every_note(texts: list[str], title: str) -> None:
    wiki = compiled(notes(*texts))
    assert titles(wiki) == [title]
    assert refs(wiki, page(wiki, title).sections["notes"].source_ids) == ["n0", "n1", "n2"]


def test_a_name_in_mixed_scripts_is_quoted_from_every_note() -> None:
    wiki = compiled(notes("我在B站看视频。", "去B站听歌，很好。", "B站关了。", tags=["B站"]))
    quotes = "".join(section.body for section in page(wiki, "B站").sections.values())
    assert all(text in quotes for text in ("我在B站看视频。", "去B站听歌，很好。", "B站关了。"))
    assert {"b站", "我在"} <= phrases(Reading(note(0, "我在B站看视频。")))


def test_only_scripts_without_spaces_are_separated_from_latin_letters() -> None:
    assert fold_text("Việt Nam, résumé, Łódź") == " viet nam resume lodz "
    assert fold_text("我用Hugo0写B站") == " 我用 hugo0 写 b 站 "


def test_a_chinese_place_is_named_with_its_kind_alone() -> None:
    texts = ["晚上在浣花溪公园散步。", "和朋友去浣花溪公园看荷花。", "中午去浣花溪公园写生。"]
    assert titles(compiled(notes(*texts)), "entity") == ["浣花溪公园"]
