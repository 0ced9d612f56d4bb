"""Lists of decisions in minutes: items below a heading or a label like *Decisions*, and lines with such a label.

Tasks, open points and notes that nothing was decided are no decisions, even in such a list.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..texts.language import word_set
from ..texts.text import TextLine


def any_of(words: str) -> str:
    """Return a pattern for any of these words or phrases, which commas separate."""
    return f"(?:{'|'.join(' '.join(word.split()) for word in words.split(','))})"


LABEL_MAX = 60  # characters of a line with only a label
PARAGRAPH_MAX = 160  # characters of a paragraph that states one decision of several
MARKS = r"[^\w\[【(（]{0,6}"
# Words that head a list of decisions, or a single one.
SEVERAL = any_of(
    r"""
    (?:key |main |final |board |committee |our |all )?decisions(?: (?:made|taken|reached|log|today|so far))?,
    decision log, (?:what )?we decided, agreed points, points agreed, resolutions (?:passed|adopted|made),
    motions (?:passed|carried), (?:gefasste |unsere |alle )?beschlüsse, (?:getroffene |unsere )?entscheidungen,
    vereinbarungen, festlegungen, (?:relevé (?:de|des) )?décisions(?: prises)?, résolutions adoptées, délibérations,
    decisiones(?: tomadas)?, acuerdos(?: adoptados| tomados| alcanzados)?, resoluciones, decisões(?: tomadas)?,
    deliberações, decisioni(?: prese)?, delibere, besluiten, beslissingen,
    (?:会议|會議|本次|本周|今日|今天|主要)?(?:的)?(?:决定|決定|决议|決議)(?:事项|事項), (?:会议|會議)?(?:决议|決議),
    (?:本日の|今日の|今回の|主な)?(?:決定|決議|合意)事項, (?:今日)?(?:決まった|決めた)(?:こと|もの), 결정\s?사항,
    합의\s?사항, 의결\s?사항, принятые решения
    """
)
SINGLE = any_of(
    r"""
    (?:our |my |final )?decision(?: (?:made|taken|outcome))?, decided, agreed, beschluss(?:fassung)?, beschlossen,
    entscheidung, entschieden, vereinbart, vereinbarung, festlegung, décision(?: prise)?, décidé, decisión, decidido,
    acuerdo, acordado, decisão, deliberação, decisione, deciso, delibera, besluit,
    (?:最终|最終|会议|會議)?(?:决定|決定),
    결정, решили, решено, постановили
    """
)
LISTED = re.compile(rf"{MARKS}(?:\d{{1,2}}[.)]? ?)?(?:{SEVERAL}|{SINGLE})\W*", re.IGNORECASE)
LISTING_SEVERAL = re.compile(rf"{MARKS}(?:\d{{1,2}}[.)]? ?)?{SEVERAL}\W*", re.IGNORECASE)
# Other headings below which a team says what it does.
HEADED = re.compile(r"(?:\W|\d)*(?:resolution|决策|決策|решени[ея])(?: outcome)?\W*", re.IGNORECASE)
# A label and the decision after it: `決定 → …`, `【決定】…`, `[Decision] …`, `Beschluss 4: …`.
LABELLED = re.compile(
    rf"{MARKS}(?:[【\[(（](?:{SEVERAL}|{SINGLE})[】\])）] ?(?:[:：→-] ?)?"
    rf"|(?:{SEVERAL}|{SINGLE})(?: (?:no\.? |nr\.? |n[°º] ?)?\d{{1,3}}[a-z]?)? ?(?:[:：→⇒]|[-=]>| [–—-](?= )) ?)(?=\S)",
    re.IGNORECASE,
)
# A label after the decision: `(decided)`, `（決定）`.
LABELLED_AFTER = re.compile(
    r" ?(?:[(（\[【](?:decided|agreed|decision|beschlossen|entschieden|beschluss|décidé|decidido|acordado|deciso|決定"
    r"|决定"
    r"|決定済み|已定|결정)[)）\]】]"
    r"|[,;–—] (?:it['’]s|it is|that['’]s) (?:decided|settled|agreed)"
    r"|，(?:就)?这么定了)(?=[.。!！]?$|[.。] )",
    re.IGNORECASE,
)
# Labels of other lists, which end a list of decisions.
OTHER = re.compile(
    r"\W{0,6}(?:to[- ]?dos?|tasks?|actions?(?: items| points)?|next steps|follow-?ups?|homework|open (?:points"
    r"|questions)"
    r"|aufgaben|offene punkte|nächste schritte|actions? à mener|à faire|prochaines étapes|tareas|pendientes"
    r"|próximos pasos|tarefas|pendências|próximos passos|compiti|da fare|宿題|課題|次回|アクション|待办|待辦|行动项"
    r"|下一步"
    r"|할 ?일)(?:\W.{0,40})?",
    re.IGNORECASE,
)
# Every label has one of these stems, in small letters.
STEMS = word_set(
    """
    decision decided agreed settled motions resolution beschl entsch vereinb festleg décid décis délib decid decis
    acuerd acord resoluc delib deci beslis beslui 决 決 合意 定了 已定 결정 합의 의결 решен решил постанов
    """
)
ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•・●○▪◦–—]|[(（]?\d{1,2}[.)）]|[a-z][.)]|[①-⑳])[ \t　]*(?=\S)")
# Items that settle nothing.
NOTHING = re.compile(
    r"\W*(?:none|nothing|no decisions?|n/?a|nil|keine?r?|nichts|entfällt|aucune?|néant|rien|ninguna?|nada|nenhuma?"
    r"|nessuna?|niente|(?:特に|とくに)?(?:なし|無し|ありません)|无|無|没有|暂无|없음|нет)\b.{0,30}",
    re.IGNORECASE,
)
PENDING = re.compile(
    r"\b(?:pending|deferred|tabled|tbd|tbc|tba|undecided|no decision|not (?:yet )?(?:decided|agreed)|still open"
    r"|to discuss"
    r"|to be (?:discussed|confirmed|determined|decided)|next meeting|vertagt|zurückgestellt|offen|unklar"
    r"|noch zu klären|kein beschluss|nächste sitzung|à (?:voir|discuter|décider|confirmer|revoir)|en suspens"
    r"|prochaine réunion|pendientes?|por (?:definir|decidir|confirmar)|próxima reunión|a (?:definir|decidir|confirmar)"
    r"|em aberto|próxima reunião|da (?:definire|decidere|discutere)|in sospeso|prossima riunione|не решен[оы])\b"
    r"|結論(?:は)?(?:出さず|出ず|出な|持ち越|見送)|継続(?:審議|検討|協議)|引き続き|持ち越し|保留|次回(?:に|へ|まで"
    r"|以降|判断)"
    r"|要検討|検討(?:する|中|へ|$|。)|未定|再検討|改めて(?:議論|相談|検討)|待定|待议|待議|再议|再議|再讨论|再討論"
    r"|下次再"
    r"|暂缓|继续讨论|繼續討論|미정|보류|다음 회의",
    re.IGNORECASE,
)
PERSON = (
    r"(?-i:@?[A-ZÄÖÜÀ-Þ][\w.-]+(?: [A-ZÄÖÜÀ-Þ][\w.-]+)?(?:(?:,| and| und| et| y| e| &| \+) [A-ZÄÖÜÀ-Þ][\w.-]+){0,2})"
)
TASK = re.compile(
    rf"(?:action|todo|task|aufgabe|action item)\b.{{0,3}}[:：]|{PERSON} (?:to (?=[a-z])|will (?!be\b|become|stay"
    rf"|remain|no)"
    r"|kümmer[tn] sich|schreib(?:t|en)|frag(?:t|en)|besorg(?:t|en)|organisier(?:t|en)|prüf(?:t|en)|klär(?:t|en)"
    r"|erstell(?:t|en)|schick(?:t|en)|informier(?:t|en)|meldet|melden|lädt|laden|s['’]occupe|contacte|envoie|prépare"
    r"|appelle|rédige|vérifie|se encarga|llama|envía|prepara|contacta|revisa|trata de|liga|envia|contatta|chiama|manda)"
    r"|[^。:：]{0,40}(?:さん|氏|くん|様)(?:が|[:：])|[^。]{0,20}(?:当番|司会|書記|議事録)(?:係)?は"
    r"|(?:由)?[\u4e00-\u9fff]{2,3}(?:负责|負責|跟进|跟進|去联系|准备)",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """The part of a line in the lists of decisions of a source."""

    is_listed: bool = False
    """Whether it is an item of a list of decisions."""
    is_label: bool = False
    """Whether it is only a label, such as *Decisions:* or *Tasks:*."""
    is_headed: bool = False
    """Whether it stands below a heading like *Decision*, also as a paragraph or a detail of an item."""


NOWHERE = Place()


def may_list(text: str, lines: Sequence[TextLine]) -> bool:
    """Return whether a source may have a list of decisions or a label. This is a fast check without false negatives."""
    written = "\n".join((text, *dict.fromkeys(line.heading for line in lines))).casefold()
    return any(map(written.__contains__, STEMS))


def settles(text: str) -> bool:
    """Return whether an item of a list of decisions settles something."""
    return not (NOTHING.fullmatch(text) or PENDING.search(text) or TASK.match(text))


def places(lines: Sequence[TextLine]) -> Iterator[Place]:
    """Yield what each line is in the lists of decisions."""
    heading, listing = "", _Listing()
    for at, line in enumerate(lines):
        if line.heading != heading:
            heading, listing = line.heading, _Listing()
            listing.is_on = LISTED.fullmatch(heading) is not None
            listing.is_headed = listing.is_on or HEADED.fullmatch(heading) is not None
            listing.is_several = LISTING_SEVERAL.fullmatch(heading) is not None
        if _is_label(line) and (line.raw.rstrip(" *_")[-1:] in ":：→" or _is_item(lines[at + 1 : at + 2])):
            listing = _Listing(is_on=True, is_several=True, is_labelled=True)
            yield Place(is_label=True)
        elif OTHER.fullmatch(line.sentences[0].text):
            listing.is_on = False
            yield Place(is_label=True)
        else:
            yield listing.place(line)


def indent_of(line: TextLine) -> int:
    """Return the indentation of a line, in spaces."""
    written = line.raw.expandtabs(4)
    return len(written) - len(written.lstrip())


class _Listing:
    """The state of a list of decisions while its lines are read."""

    def __init__(self, *, is_on: bool = False, is_several: bool = False, is_labelled: bool = False) -> None:
        self.is_on, self.is_several, self.is_labelled = is_on, is_several, is_labelled
        self.is_headed = False
        self._indent: int | None = None
        self._paragraphs = 0

    def place(self, line: TextLine) -> Place:
        """Return what the next line is in this list."""
        if not self.is_on:
            return NOWHERE
        item = ITEM.match(line.raw)
        if item is None:
            return Place(self._states_one(line), is_headed=self.is_headed)
        indent = indent_of(line)
        self._indent = indent if self._indent is None else self._indent
        if self.is_labelled and indent < self._indent:
            self.is_on = False
            return NOWHERE
        is_detail = indent > self._indent or (self._paragraphs > 0 and not self.is_several)
        return Place(not is_detail, is_headed=self.is_headed)

    def _states_one(self, line: TextLine) -> bool:
        """Return whether a paragraph states a decision: the only one below a label, the first one below a heading like
        *Decision*, and each short one below a heading like *Decisions*."""
        if self._indent is not None and self.is_labelled:
            self.is_on = False
            return False
        is_intro = line.raw.rstrip(" *_")[-1:] in (":", "：")
        if is_intro:
            return False
        self._paragraphs += 1
        if self.is_labelled:
            self.is_on = False
        return self._paragraphs == 1 or (self.is_several and len(line.raw) <= PARAGRAPH_MAX)


def _is_item(lines: Sequence[TextLine]) -> bool:
    return any(ITEM.match(line.raw) for line in lines)


def _is_label(line: TextLine) -> bool:
    """Return whether a line is only a label like *Decisions:*."""
    return len(line.raw) <= LABEL_MAX and LISTED.fullmatch(line.sentences[0].text) is not None
