"""Subjects of one source: what it says again and again, above all if its title, a heading or a link says so, too.

They need no capitals. A word is none unless it stands where nouns do, and those that every text says are left out. A
short note says little twice: there a sentence that begins with a thing is about it, and other nouns are weak evidence.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from content.search.words import SPACELESS

from .capitals import is_action
from .german_nouns import ABSTRACT, DETERMINERS, KINDS_OF_PLACE, NO_ARTICLE
from .language import stops_of, word_set
from .sightings import LINK
from .spaceless import ZH_STOPS
from .text import WORD, Sentence, TextLine, clean, fold_text, normalised

SUBJECTS_MAX = 12  # of one source
SENTENCES_MAX = 400  # that are counted
SHORT_MAX = 15  # sentences of a short note
LETTERS_MIN, HAN_MIN, HAN_MAX = 5, 3, 8
ANYWHERE = 3  # sentences that say a word which is a noun in one of them
OFTEN, CHINESE_OFTEN = 2, 3  # sentences that say it; times, where no heading does and nothing parts words
HAN_RUN = re.compile("[\u3400-\u9fff]{3,}")
HAN_WORD = re.compile("(?<![\u3400-\u9fff])[\u3400-\u9fff]{2,4}(?![\u3400-\u9fff])")
HAN_CUT = re.compile("^[端方台件条张份种类项名位款请]|[使新打请先开]$")  # what is left of a word
KANJI = re.compile("[\u3400-\u9fff々]{3,8}")
ITEM_LABEL = re.compile(r"([A-ZÄÖÜ][a-zäöüß]{4,30}): ")
STATED_MIN = 5  # words, with the label: fewer are the value of a field
# What forms and templates of notes have before a colon.
FIELDS = word_set(
    """
    mood weather location where subject status owner author date deadline priority category source topic topics goal
    gratitude highlight highlights lowlight today tomorrow yesterday morning evening lunch dinner breakfast sleep energy
    present attendees attendance participants apologies absent agenda action actions decision decisions open pending
    question questions remark remarks important warning reminder update background context conclusion cause effect
    impact solution symptoms diagnosis treatment ingredients directions method servings rating verdict pros contra
    wetter stimmung datum status priorität kategorie quelle thema themen ziel ziele dankbar anwesend abwesend
    teilnehmer entschuldigt offen offene frage fragen wichtig hinweis achtung hintergrund ursache lösung zutaten
    zubereitung bewertung fazit beschluss beschlüsse entscheidung aufgaben verantwortlich protokoll gäste
    """
)
MEETING = re.compile(
    "[会會](?=[议議员員场場计計谈談馆館长長友费費刊徽])"
    "|(?<=[书書乐樂协協聚社机機年委员員展晚宴舞例班董大商工布动動唱讨討酒茶集])[会會]"
)
HELD_MEETING = "\ue003"
WITHOUT_GRAMMAR = str.maketrans(dict.fromkeys(ZH_STOPS, " "))
CLAUSE = re.compile(r"[,;:.!?()–—“”„\"]+(?=\s|$)")
BEFORE = word_set("the a an my your his her our their some any no of for in on at with from about into by and or")
# Before what somebody does as a pursuit: `started pottery`, `went camping`.
PURSUING = word_set(
    "do does did doing love loves loved enjoy enjoys enjoyed try tried trying start starts started learn learning"
    " practise practice teach teaches study studies studied go goes going went"
)
GENERIC = {
    "en": word_set(
        """
        time times week weeks month months year years day days hour hours minute minutes morning evening night
        afternoon today thing things stuff people person everyone someone way ways part parts place places
        world life work works job idea ideas point points question questions answer answers problem problems
        issue issues reason reasons example examples case cases fact kind sort lot lots bit number numbers
        list lists line lines note notes post posts page pages word words text name names side end start
        beginning middle rest half hand hands head eyes face house room street city town country water
        food money price meeting meetings call calls email emails message change changes plan plans step steps
        result results version update updates review reviews team teams group member members user users
        customer customers company office project projects task tasks agenda action items decision decisions
        summary overview introduction conclusion background details next today's attendees great good little
        small large right whole second third later early first really always maybe again feature features
        option options setting settings file files folder folders button window friend friends family kids
        weekend photo photos picture pictures fun love support help hope chance moment moments feeling
        feelings experience experiences journey memories inspiring amazing awesome big huge new old long short
        best better full real special own different same difference impact effort sense touch deal level order
        sure sorts course thought thoughts passion courage dedication strength bravery joy peace comfort
        reminder motivation inspiration positivity kindness attitude growth goals goal dream dreams success
        progress advice energy happiness break chat luck news challenge challenges opportunity opportunities
        future past present balance purpose confidence creativity perspective vibe vibes atmosphere spirit
        heart mind soul self acceptance determination perseverance resilience sounds looks feels favorite
        favourite section chapter reading writing making getting going being having doing looking thing's
        """
    ),
    "de": word_set(
        """
        tag tage tagen woche wochen monat monate monaten jahr jahre jahren zeit zeiten uhr stunde stunden minute
        minuten morgen abend nacht mittag vormittag nachmittag heute leute mensch menschen frau herr kinder kind mal
        male ende anfang teil seite seiten stück grad meter kilo liter euro cent prozent frage fragen antwort
        problem probleme grund thema themen punkt punkte beispiel fall arbeit aufgabe aufgaben plan idee ideen weg
        welt leben haus wohnung zimmer tür straße stadt land wasser essen geld preis treffen sitzung termin termine
        protokoll beschluss beschlüsse tagesordnung nächste wetter sonne regen wind hand hände kopf auge augen wort
        worte name namen zahl liste notiz notizen nachbar nachbarn freund freunde freundin familie eltern wochenende
        sommer winter herbst frühling frühjahr januar februar märz april mai juni juli august september oktober
        november dezember montag dienstag mittwoch donnerstag freitag samstag sonntag ding dinge sache sachen platz
        ort orte gruppe mitglied mitglieder verein vorstand inhalt anzahl ergebnis ergebnisse text texte artikel
        titel datei dateien bild bilder situation möglichkeit gefühl gedanke gedanken eindruck moment momente blick
        stimmung besuch gespräch hälfte mitte nähe größe farbe form rolle bereich beginn schluss rest küche flur
        balkon tisch stuhl bett fenster boden wand zug bahn auto fahrrad laden supermarkt kollege kollegen kollegin
        chef büro mutter vater schwester bruder sohn tochter baby hund katze arzt kaffee kuchen suppe brot bier wein
        frühstück mittagessen abendessen telefon handy rechnung vertrag angebot post brief stelle kunde kunden firma
        gespräche anfrage angebote luft licht himmel schnee nacht
        """
    ),
    "zh": word_set(
        """
        博客 文章 日记 随笔 总结 笔记 标题 标签 分类 内容 文字 句子 图片 照片 视频 链接 网站 网页 页面 评论 读者 作者
        生活 工作 时间 今天 明天 昨天 早上 上午 中午 下午 晚上 周末 小时 分钟 星期 大家 自己 别人 朋友 同事 同学 家人
        老师 孩子 父母 妈妈 爸爸 公司 学校 城市 国家 地方 世界 问题 原因 结果 方法 方式 办法 东西 事情 情况 感觉 心情
        想法 意思 办公室 电脑 手机 软件 系统 工具 项目 团队 会议 计划 任务 版本 更新 功能 设置 配置 文件 数据 代码
        服务器 用户 客户 公里 天气 早餐 午饭 晚饭 咖啡 一直 觉得 知道 开始 最后 终于 非常 比较 特别 应该 需要 喜欢
        """
    ),
}


class Subject(NamedTuple):
    """A subject with a sentence that says it. `is_about` is false where a short note only says it as a noun."""

    name: str
    said: str
    is_about: bool = True


def subjects(lines: Sequence[TextLine], titles: Iterable[str], language: str) -> Iterator[Subject]:
    """Yield what the source is about, that which most sentences say first, then what a short one only says."""
    sentences = [sentence for line in lines for sentence in line.sentences][:SENTENCES_MAX]
    heads = [
        *titles,
        *dict.fromkeys(line.heading for line in lines),
    ]
    heads += [shown for line in lines for shown in _link_texts(line.raw)]
    find = {"zh": _chinese, "ja": _japanese, "de": _german}.get(language, _spaced)
    counts = find(sentences, [fold_text(clean(head)) for head in heads if head], language)
    found = {name: True for name, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))}
    if len(sentences) <= SHORT_MAX:
        said = dict(_said_once(sentences, language))
        found |= dict.fromkeys((name for name, is_theme in said.items() if is_theme), True)
        found |= {name: False for name in said if name not in found}
    for name in list(found)[:SUBJECTS_MAX]:
        wanted = name if SPACELESS.search(name) else fold_text(name)
        if text := next((one.text for one in sentences if wanted in one.words), None):
            is_written = language != "de" and text.isascii()
            yield Subject(name if is_written else _written(name, text), text, found[name])


def _written(name: str, text: str) -> str:
    """Return a folded name as the text writes it: `warmepumpe` as `Wärmepumpe`; else as it is."""
    count = len(name.split())
    words = WORD.findall(text)
    forms = (" ".join(words[at : at + count]) for at in range(len(words) - count + 1))
    return next((form for form in forms if normalised(form) == name), name)


def _said_once(sentences: Sequence[Sentence], language: str) -> list[tuple[str, bool]]:
    """Return the nouns of a short note, and whether a sentence begins with them; those with which none does first."""
    find = {"de": _german_nouns, "en": _pairs, "zh": _chinese_words}.get(language)
    if find is None:
        return []
    small = stops_of(language) | GENERIC[language]
    clauses = (clause for sentence in sentences for clause in CLAUSE.split(sentence.text) if clause.strip())
    found = [one for clause in clauses for one in find(clause, small)]
    return sorted((*found, *((name, True) for name in _labels(sentences, small))), key=lambda one: one[1])


def _labels(sentences: Sequence[Sentence], small: Container[str]) -> Iterator[str]:
    """Yield the noun before a colon with which minutes begin an item: `Payments: we compared three banks`."""
    for sentence in sentences:
        found = None if sentence.speaker else ITEM_LABEL.match(sentence.text)
        name = normalised(found[1]) if found else ""
        if found and name not in small and name not in FIELDS and len(sentence.words.split()) >= STATED_MIN:
            yield name


def _pairs(clause: str, small: Container[str]) -> Iterator[tuple[str, bool]]:
    """Yield pairs of words that stand as nouns do: `the courier app`, and at the start `heat pump is`."""
    words = fold_text(clause).split()
    for at, (first, second) in enumerate(pairwise(words)):
        if first in small or second in small or not (first.isalpha() and second.isalpha()):
            continue
        following = words[at + 2] if at + 2 < len(words) else ""
        does = is_action(following, "en")
        is_led = at > 0 and words[at - 1] in BEFORE
        if (is_led and (does or not following or following in small)) or (at == 0 and does):
            is_theme = (does or following == "now") and (at == 0 or (at == 1 and is_led))
            yield f"{first} {second}", is_theme


def _german_nouns(clause: str, small: Container[str]) -> Iterator[tuple[str, bool]]:
    """Yield nouns behind an article: `in der Laube`, and at the start `Das Hochbeet ist` or `Mieterstrom kostet`."""
    words = WORD.findall(clause)
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        name = normalised(word)
        is_noun = word[0].isupper() and word[1:].islower() and len(word) >= LETTERS_MIN and not following[:1].isupper()
        is_led = words[at - 1].lower() in DETERMINERS if at else is_action(following, "de")
        if not is_noun or not is_led or following.isdigit():
            continue
        if name not in small and name not in NO_ARTICLE and name not in KINDS_OF_PLACE and not ABSTRACT.search(name):
            yield name, at <= 1 and following.islower()


def _chinese_words(clause: str, small: Container[str]) -> Iterator[tuple[str, bool]]:
    """Yield what stands between marks and words of grammar: `编程、读书和跑步`."""
    for word in HAN_WORD.findall(_without_grammar(clause)):
        if word not in small:
            yield word, False


def _without_grammar(text: str) -> str:
    """Return a Chinese text with spaces for what only joins words; `会` stays in `会议室` and `读书会`."""
    return MEETING.sub(HELD_MEETING, text).translate(WITHOUT_GRAMMAR).replace(HELD_MEETING, "会")


def _link_texts(raw: str) -> Iterator[str]:
    """Yield what the links of a line call pages of the same wiki."""
    for link in LINK.findall(raw) if "](" in raw else ():
        shown, _, target = link.lstrip("!")[1:-1].partition("](")
        if shown and target and "://" not in target and not target.startswith(("#", "mailto:")):
            yield shown


def _spaced(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count words and pairs of words by the sentences in which they stand as nouns do.

    A word that stands alone once counts in pairs, too (`about adoption`, `an adoption agency`), and anywhere else.
    """
    small = stops_of(language) | GENERIC["en"]
    headed = "".join(heads)
    counts: Counter[str] = Counter()
    leading: Counter[str] = Counter()
    for sentence in sentences:
        nouns = set(_nouns(sentence, small))
        counts.update(nouns)
        leading.update({noun.split()[0] for noun in nouns if " " in noun} - nouns)
    said = {name: count for name, count in counts.items() if count >= OFTEN or (f" {name} " in headed and " " in name)}
    pairs = {word for name in said if " " in name for word in name.split()}
    anywhere = Counter(word for sentence in sentences for word in set(sentence.words.split()) if word in counts)
    for name, count in counts.items():
        if name not in said and (leading[name] or anywhere[name] >= ANYWHERE):
            said[name] = count + leading[name]
    return Counter({name: count for name, count in said.items() if name not in pairs})


def _nouns(sentence: Sentence, small: Container[str]) -> Iterator[str]:
    """Yield what stands behind an article or a preposition and before a word of grammar or the end."""
    words = sentence.words.split()
    for at, word in enumerate(words):
        if word in small or not word.isalpha() or (at + 1 < len(words) and words[at + 1] not in small):
            continue
        first = at
        while (
            first and words[first - 1] not in small and words[first - 1] not in PURSUING and words[first - 1].isalpha()
        ):
            first -= 1
        before = words[first - 1] if first else ""
        if at - first > 1 or not (before in BEFORE or (at == first and before in PURSUING)):
            continue
        if at > first:
            yield f"{words[first]} {word}"
        elif len(word) >= LETTERS_MIN and not word.endswith("ly"):
            yield word


def _german(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count nouns, which have capitals, by the sentences that say them."""
    small = stops_of("de") | GENERIC["de"]
    counts: Counter[str] = Counter()
    for sentence in sentences:
        written = sentence.text.split()
        nouns = {word.strip(".,;:!?()“”„\"'’«»") for word in written[1:] if word[:1].isupper()}
        counts.update(
            {fold_text(noun).strip() for noun in nouns if len(noun) >= LETTERS_MIN and noun.isalpha()} - small
        )
    headed = "".join(heads)
    return Counter({name: count for name, count in counts.items() if count >= OFTEN or f" {name} " in headed})


def _chinese(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    """Count the longest runs of characters that are said again, without those of the grammar."""
    heads = tuple(heads)
    text = _without_grammar("\n".join((*(sentence.words for sentence in sentences), *heads)))
    runs = HAN_RUN.findall(text)
    grams = Counter(run[at : at + HAN_MIN] for run in runs for at in range(len(run) - HAN_MIN + 1))
    again = {gram for gram, count in grams.items() if count >= OFTEN}
    found = {name for run in runs for name in _chained(run, again) if len(name) <= HAN_MAX} if again else ()
    headed = "\n".join(heads)
    return Counter(
        {
            name: count
            for name in found
            if (count := text.count(name)) >= (OFTEN if name in headed else CHINESE_OFTEN) and not HAN_CUT.search(name)
        }
    )


def _chained(run: str, again: Container[str]) -> Iterator[str]:
    """Yield the parts of a run that consist of characters which are said together again."""
    start = None
    for at in range(len(run) - HAN_MIN + 2):
        if run[at : at + HAN_MIN] in again and at <= len(run) - HAN_MIN:
            start = at if start is None else start
        elif start is not None:
            yield run[start : at + HAN_MIN - 1]
            start = None


def _japanese(sentences: Sequence[Sentence], heads: Iterable[str], language: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in (*(sentence.words for sentence in sentences), *heads):
        counts.update(set(KANJI.findall(text)))
    return Counter({name: count for name, count in counts.items() if count >= OFTEN})
