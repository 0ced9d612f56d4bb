"""The names and nouns of a Chinese text, by its words: which of them no dictionary has, and what stands around them."""

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from content.chinese import ChineseWord, chinese_words, verb_uses

from ..texts.language import word_set

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
IS_HAN, NO_HAN = re.compile(f"[{HAN}]+"), re.compile(f"[^{HAN}]+")
SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤張劉陳楊黃趙吳孫"
    "馬鄭謝許韓馮鄧葉蘇盧鍾"
)
TITLES = word_set(
    """
    老师 医生 先生 女士 阿姨 叔叔 师傅 经理 教授 姐 哥 奶奶 爷爷 老板 大夫 教练 总 工 老師 醫生 師傅 經理 爺爺 老闆
    教練 總
    """
)
# The ends of names of places, and of firms, systems and products.
PLACES = word_set(
    """
    公园 餐厅 饭店 酒店 书店 咖啡馆 咖啡店 大学 医院 博物馆 美术馆 市场 车站 机场 寺 庙 湖 广场 公司 图书馆 面馆
    火锅店 茶馆 古镇 动物园 植物园 夜市 老街 路 街 巷 塔 宫 桥 海滩 山庄 剧院 体育馆 小学 中学 面包店 菜场 菜市场
    码头 酒吧 酒馆 花园 体育场 游泳馆 健身房 小区 胡同 水库 峡谷 森林 农场 俱乐部 工作室 诊所 食堂 书院 包子铺
    豆浆店 花店 超市 商场 大厦 教堂 书屋 民宿 客栈 瀑布 溪 湾 港 岛 镇 村 峰 轩 阁 斋 坊 山 河 公園 餐廳 飯店 書店
    咖啡館 大學 醫院 博物館 美術館 市場 車站 機場 廟 廣場 圖書館 麵館 茶館 古鎮 動物園 植物園 宮 橋 海灘 山莊 劇院
    體育館 小學 中學 菜市場 碼頭 花園 體育場 游泳館 水庫 峽谷 農場 俱樂部 診所 書院 商場 大廈 書屋 客棧 灣 島 鎮 軒
    閣 齋
    """
)
MADE = word_set(
    """
    系统 数据库 平台 物流 科技 集团 银行 输入法 引擎 框架 软件 协议 出版社 杂志 基金会 实验室 研究所 事务所 学院
    工厂 客户端 浏览器 编辑器 播放器 论坛 电台 乐队 乐团 剧团 球队 联盟 协会 系統 數據庫 資料庫 軟體 輸入法 實驗室
    銀行 雜誌 協會 集團 學院 工廠 瀏覽器 論壇 電台 樂隊 樂團 劇團 球隊 聯盟 資本 资本 電子 电子 网络 製造 制造
    """
)
KINDS = PLACES | MADE
NAMED = ("nr", "ns", "nt", "nz")  # the tags of people, places, institutions and other names
# The tags of words that no dictionary has and that are no names, as the words around them show.
NO_NAME = frozenset("vdcprmqutfyexk")
NO_NOUN = re.compile("[太最更上下的了是我你他她它们們这這那不没沒很都也还還就两兩]")
LEADING, TRAILING = "去在和到从從跟与與给給把被让讓用叫是向见見", "说說在是和的了"
NUMBERS = "一二三四五六七八九十几幾第每"
FAMILIAR = frozenset("小老阿")
SITES = frozenset("窟洞县縣市州江海关關堡城")  # further ends of names of places in dictionaries
SIDES = frozenset("大小新老南北东西東")  # adjectives with which names of places begin
MODIFYING = frozenset({"a", "b", "f"})  # the tags of words before a noun with which they are a compound: `内部链接`
MORPHEMES = frozenset({"ag", "dg", "g", "ng", "tg", "vg", "zg"})  # the tags of characters that are no words
RARE_MAX = 3_000  # uses of a rare character
LENGTH_MAX = 6  # characters of a word that no dictionary has
VERB_MIN = 3_000  # uses of a verb of one character, which makes a phrase with the next one rather than a name
# How often texts use a word that is still rare enough to be a subject; to be a name before a kind of place; and to be
# one before a kind of firm or product.
SUBJECT_MAX, PLACE_MAX, MADE_MAX = 1_200, 500, 200
# How often texts use the full name of somebody famous that others have as well; and one that is always somebody's.
PERSON_MAX, NAMESAKE_MAX = 600, 50
RUN_MAX, PART_MAX = 8, 8_000  # characters of a noun of several words, and how often texts use the rarest of them
NONE = ChineseWord(" ", "x", 0)  # before the first word and after the last one


class Noun(NamedTuple):
    """A noun of a text."""

    text: str
    words: int
    """The number of its words."""
    uses: int
    """How often texts use the rarest of its words."""


def is_new(word: ChineseWord) -> bool:
    """Return whether it is a noun that no dictionary has."""
    return (
        not word.uses
        and word.tag[0] not in NO_NAME
        and 2 <= len(word.text) <= LENGTH_MAX
        and IS_HAN.fullmatch(word.text) is not None
        and not _is_phrase(word.text)
    )


def _is_phrase(text: str) -> bool:
    """Return whether a word that no dictionary has is a number or a verb with a noun: `三楼`, `吃面`."""
    is_made = len(text) == 2 and text[0] not in SURNAMES and verb_uses(text[0]) > VERB_MIN
    return is_made or text[0] in NUMBERS or NO_NOUN.search(text) is not None


def names(sentence: str) -> Iterator[tuple[str, bool]]:
    """Yield (name, whether it is a person's) for the names in a sentence."""
    words = (NONE, *_words(sentence), NONE)
    for before, word, following in zip(words, words[1:], words[2:], strict=False):
        if not _may_name(word):
            continue
        both = before.text + word.text
        if _is_place(before, word) or (before.text in SIDES and _is_site(word._replace(text=both))):
            yield both, False
        elif _is_called(before, word):
            yield both, True
        elif _is_familiar(word.text) or _is_full_name(word, following):
            yield word.text, True
        elif _is_site(word) and not _is_place(word, following):
            yield word.text, False
        elif is_new(word) and not (_is_place(word, following) or _is_called(word, following)):
            is_one = following.tag[0] == "n" and 0 < following.uses <= NAMESAKE_MAX  # `小鹤双拼`
            yield f"{word.text}{following.text if is_one else ''}", word.text[0] in SURNAMES


@lru_cache(maxsize=4_000)
def _may_name(word: ChineseWord) -> bool:
    """Return whether a word may be a name, or the end of one. Most words are not, which saves time."""
    is_end = word.text in KINDS or word.text in TITLES or word.text in SURNAMES or word.tag[:2] in NAMED
    return word.tag != "x" and (is_end or _is_familiar(word.text) or is_new(word))


def nouns(text: str, small: Container[str]) -> Iterator[Noun]:
    """Yield the nouns of one word, of two adjacent words and of a whole run of words in a text."""
    run: list[ChineseWord] = []
    for word in (*_words(text), NONE):
        if _is_noun(word):
            run.append(word)
            continue
        if len(run) > 1 or (run and _is_noun(run[0])):
            yield from _nouns_of(run, small)
        run = [word] if word.tag in MODIFYING and len(word.text) > 1 and word.text not in small else []


def _nouns_of(run: Sequence[ChineseWord], small: Container[str]) -> Iterator[Noun]:
    """Yield the nouns of adjacent words, of which the first may be an adjective."""
    for parts in (*([run] if len(run) > 2 else ()), *pairwise(run)):
        uses = min((part.uses for part in parts if part.text not in small), default=PART_MAX)
        if sum(len(part.text) for part in parts) <= RUN_MAX and uses < PART_MAX:
            yield Noun("".join(part.text for part in parts), len(parts), uses)
    noun = run[-1]
    is_one = len(run) == 1 or (len(run) == 2 and not _is_noun(run[0]))
    if is_one and len(noun.text) > 1 and _is_rare(noun) and noun.text not in small:
        yield Noun(noun.text, 1, noun.uses)


@lru_cache(maxsize=4_000)
def _is_noun(word: ChineseWord) -> bool:
    """Return whether it stands as a noun, or may be one that no dictionary has."""
    is_noun = word.tag[0] in "nj" or word.tag == "vn" or (not word.uses and word.tag == "v" and len(word.text) == 2)
    return is_noun and IS_HAN.fullmatch(word.text) is not None and (word.uses > 0 or not _is_phrase(word.text))


def _is_rare(word: ChineseWord) -> bool:
    return word.uses <= SUBJECT_MAX or word.tag == "ns"


@lru_cache(maxsize=300)
def _words(text: str) -> tuple[ChineseWord, ...]:
    """Return the words of a text, with a space in place of what is not Chinese."""
    found: list[ChineseWord] = [NONE]
    for written in chinese_words(NO_HAN.sub(" ", text)) if IS_HAN.search(text) else ():
        word = _bare(written) if not written.uses and len(written.text) > 2 else written
        before = found[-1]
        if len(before.text) == 1 and before.tag != "x" and _makes_word(before, word):
            word = word._replace(text=found.pop().text + word.text, uses=0, tag="nr")
        found.append(word)
    return tuple(found[1:])


def _makes_word(character: ChineseWord, word: ChineseWord) -> bool:
    """Return whether a character is only the beginning of a word that no dictionary has: `浣花溪`, `蓝隼`."""
    if len(word.text) == 1:
        return character.tag[:2] in NAMED and word.tag[0] in "ng" and min(character.uses, word.uses) <= RARE_MAX
    return character.tag in MORPHEMES and 0 < character.uses <= RARE_MAX and word.tag[0] == "n"


def _bare(word: ChineseWord) -> ChineseWord:
    """Return a word that no dictionary has without the words of grammar that were taken for its ends."""
    text = word.text[word.text[0] in LEADING :]
    return word._replace(text=text[:-1] if len(text) > 2 and text[-1] in TRAILING else text)


def _is_familiar(text: str) -> bool:
    """Return whether it is a name as friends and colleagues use it: `老张`, `小李`, `张总`, `陈医生`."""
    if text[0] in FAMILIAR:
        return len(text) == 2 and text[1] in SURNAMES
    return text[0] in SURNAMES and text[1:] in TITLES


def _is_full_name(word: ChineseWord, following: ChineseWord) -> bool:
    """Return whether it is a full name that dictionaries have as somebody famous has it, too."""
    if word.tag != "nr" or word.text[0] not in SURNAMES or not 2 <= len(word.text) <= 3 or not word.uses:
        return False
    return word.uses <= NAMESAKE_MAX or (word.uses <= PERSON_MAX and following.tag in ("v", "p", "c", "d"))


def _is_site(word: ChineseWord) -> bool:
    """Return whether it is the name of a place that dictionaries have: `天柱山`, `洱海公园`."""
    is_named = word.tag[:2] in NAMED and word.uses <= PERSON_MAX and len(word.text) > 2
    return is_named and (word.text[-1] in SITES or word.text[-1] in PLACES or word.text[-2:] in PLACES)


def _is_called(word: ChineseWord, following: ChineseWord) -> bool:
    """Return whether two words are the name of a person: `王芳老师`, `何阿姨`, `老韩`."""
    first = word.text[0]
    if following.text in TITLES:
        return is_new(word) or word.text in SURNAMES or (first in SURNAMES and word.tag[:2] == "nr")
    return first in FAMILIAR and len(word.text) == 1 and following.text in SURNAMES


def _is_place(word: ChineseWord, kind: ChineseWord) -> bool:
    """Return whether a word and the kind after it are the name of a place, a firm, a system or a product."""
    if kind.text not in KINDS or len(word.text) < 2 or not IS_HAN.fullmatch(word.text):
        return False
    is_named = is_new(word) or (word.tag[:2] in NAMED and word.uses > 0)
    if kind.text in MADE:
        return is_new(word) or (0 < word.uses <= MADE_MAX and word.tag[0] == "n")
    return is_named or (len(kind.text) > 1 and word.tag == "n" and 0 < word.uses <= PLACE_MAX)
