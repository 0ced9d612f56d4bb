"""Decisions in a source: sentences in which its writer or a team says that something was decided.

A decision gets a page of its own if it names something or gives a reason, or if it stands under a label or heading like
*Decision*. All others are minor decisions. Reported speech, questions, conditions, habits and opinions are no
decisions.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from content.names import normalise
from content.search.words import SPACELESS
from content.sentences import first_sentence

from .names.attendees import ATTENDING
from .names.capitals import runs
from .readings import Reading
from .texts.language import stops_of, word_set
from .texts.text import Sentence, fold_text, padded

TITLE_MAX = 90
UNSURE = frozenset({"open", "bold", "quote", "noun", "titled"})  # marks that do not prove a name
SENTENCE_MAX = 400  # characters
WORD_MIN = 3  # letters of a word that relates two sentences

TAKEN = re.compile(
    r"\b(?:we|i) (?:have |'ve |finally |all |both |then )?(?:decided|chose|opted|agreed|resolved|"
    r"settled) (?:(?:to|on|for|that|against|not)\b|in favou?r)?"
    r"|\b(?:and i|and me|[A-Z]\w+ and i) (?:decided|chose|agreed)\b(?: to| on| that)?"
    r"|\b(?:we|i) (?:chose|picked)\b(?=.{3,60}\b(?:over|instead|rather|because|since)\b)|\bwe chose\b"
    r"|^(?:decided|agreed|chose|opted|resolved|settled) (?:(?:to|on|for|that|against|not)\b|in favou?r)"
    r"|\bdecision:|\bdecided:|\bentscheidung:|\bbeschluss:|\bdécision ?:|\bdecisão:|\bdecisión:"
    r"|(?:^决定|结论|結論|定了)[:：]"
    r"|\b(?:agreed|decided|outcome|entschieden|beschlossen|vereinbart|einigung|décidé|convenu|decidido|decido|acordado"
    r"|se votó|deciso|voted?|vote|abstimmung|adoptée?s?|approuvée?s?|house rule)\b"
    r"[^.:;]{0,40}:(?= )"
    r"|\ball agreed(?: in the end)? (?:that|to)\b|\baccord pour\b|\bconvenu [^.:;]{0,40}\bque\b"
    r"|\bantrag [^.:;]{0,30}\bangenommen\b,?"
    r"|\bwe(?:'ll| will) (?:not use|go with|never use|no longer)\b|\bwe(?:['’]re| are)? (?:go|going) with\b"
    r"|\b(?:decidimos|resolvemos|optámos|optamos|escolhemos|combinámos|hemos decidido|elegimos|"
    r"acordamos)\b(?: que| por| não)?"
    r"|\b(?:nous avons|on a|j['’]ai|nous) (?:finalement |enfin |donc |tous )?(?:décidé|choisi|opté|"
    r"convenu|décidons)\b(?: de| pour| que|)"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?:beschlossen|entschieden|geeinigt|vereinbart)\b"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?=.{0,120}(?:entschieden|beschlossen|geeinigt|vereinbart))"
    r"|\b(?:wir|ich) (?:entscheiden|entschieden|beschlossen|einigten|beschließen|vereinbarten)\b(?: uns| mich)?"
    r"|\babbiamo (?:deciso|scelto|optato)|\b(?:мы|я) (?:решили?|выбрали?)\b"
    r"|(?:我们|我們|大家|我)(?:最后|最後|终于|終於|今天|一起|已经|已經)?(?:决定|決定|选择了|選擇了|选择用|選擇用|改用|选用|選用)|"
    r"(?:することにした|することにしました|ことにした|ことに決めた|に決めた|に決めました|ことにしました|に決定)"
    r"|(?:하|않|말)기로 (?:했|결정)[가-힣]*|(?:เรา|ผม|ฉัน)(?:ได้)?ตัดสินใจ",
    re.IGNORECASE,
)
INSTEAD = r"\b(?:instead of|rather than|statt|anstatt|au lieu d|plutôt qu|en vez de|em vez de|invece d)"
# Things that a team did or does from now on. These are decisions only with a reason and a name or a contrast.
DONE = re.compile(
    r"\b[Ww]e(?: have|['’]ve| then| finally| therefore| now)? (?=(?:adopt|dropp|mov|migrat|switch|replac|retir|remov"
    r"|deprecat|standardi[sz]|order|cancell?|postpon|rais|lower|limit)ed\b"
    r"|(?:rewrote|keep|cut|buy|sell|order|stay with)\b)"
    r"|\b[Ww]e(?: will|['’]ll) (?!(?:see|be|have|know|miss|need|ask|try|check|look|talk|discuss|decide|think|wait|find"
    r"|meet|visit|go|come|call|get|probably|never)\b)"
    # `I'm moving the queue to Postgres`, `5 June: rewriting the admin`
    r"|(?:\b[Ww]e(?:['’]re| are)|\bI(?:['’]m| am)|^|: )(?: now)? ?(?=(?:[Uu]s|[Ss]witch|[Mm]ov|[Mm]igrat|[Rr]eplac"
    r"|[Dd]ropp|[Kk]eep|[Cc]utt|[Bb]uy|[Ss]ell|[Oo]rder|[Rr]ais|[Ll]ower|[Pp]ostpon|[Rr]ewrit|[Cc]los|do|rent|build)ing\b)"
    r"|\b[Ww]ir (?=(?:beauftragen|verwenden|nutzen|wechseln|ersetzen|kündigen|behalten|stellen|führen|nehmen|werden"
    r"|bestellen|kaufen|verkaufen|bauen|streichen|mieten|wählen|verzichten|setzen|verschieben|bleiben|gehen auf"
    r"|vergeben)\b)"
    r"|\b(?:[Oo]n|[Nn]ous) (?=(?:prend|prenons|achète|achetons|garde|gardons|quitte|quittons|passe|passons|arrête"
    r"|arrêtons|change|changeons|remplace|remplaçons|choisit|choisissons|commande|commandons|vend|vendons|loue|louons"
    r"|reporte|reportons)\b)"
    rf"|\b(?:[Ww]e|I|[Ww]ir|[Ii]ch|[Oo]n|[Nn]ous) (?=[^.;]{{3,80}}{INSTEAD})"
)
# Things that are replaced or given up, in the passive voice.
CHANGED = re.compile(
    r"\b(?:is|are|has been|have been|wird|werden|wurden?|est|sont|a été|ont été|sera|seront) "
    r"(?:(?!(?:not|nicht|pas|never|nie|to|zu|often|usually|always|oft|immer)\b)\w+ ){0,2}?"
    r"(?:replaced|retired|dropped|cancelled|called off|ersetzt|abgeschafft|abgesagt|verschrottet|remplacée?s?"
    r"|annulée?s?)\b",
    re.IGNORECASE,
)
# Alternatives that were not chosen, which count like a name.
CONTRAST = re.compile(rf"{INSTEAD}|, not \w|\bfrom .{{2,40}} to\b|\bvon .{{2,40}} auf\b")
# Headings under which decisions are listed.
HEADED = re.compile(
    r"(?:\W|\d)*(?:decisions?|decided|resolution|beschl(?:uss|üsse)|entscheidung(?:en)?|décisions?|decisão|decisões|decisi"
    r"(?:ón|ones)|decision[ei]|决定|決定|决策|決策|決定事項|решени[ея])(?: (?:made|taken|outcome))?\W*",
    re.IGNORECASE,
)
LABELLED = re.compile(r":$|：$")
# Under such a heading, every sentence in which the team does something is a decision.
STATED = re.compile(
    r"\b(?:we|wir|nous|on|nós|nosotros)\b|我们|我們|мы\b|^(?:use|adopt|keep|move|switch|replace|drop)\b",
    re.IGNORECASE,
)
# Every sentence that TAKEN, DONE or CHANGED finds contains one of these strings. They are searched first, to save time.
STEMS = (
    "decid", "decis", "chose", "opted", "agreed", "resolv", "settled", "picked", "not use", "go with", "never use",
    "no longer", "entsch", "beschl", "einigt", "décid", "décis", "choisi", "opté", "convenu", "optá", "optam", "optat",
    "escolh", "combin", "elegim", "acorda", "scelt", "решил", "выбрал", "决定", "決定", "选择", "選擇", "改用", "选用",
    "選用", "ことにし", "に決め", "하기로", "않기로", "말기로", "ตัดสินใจ", "going with", "vereinbar", "we ", "wir ",
    "outcome", "acordado", "se votó", "结论", "結論", "定了", "に決定", "deciso", "we're ", "we’re ", "i'm ", "i’m ",
    "using", "moving", "switching", "replacing", "dropping", "rewriting", "instead of", "rather than", "statt ",
    "au lieu d", "plutôt qu", "nous ", "on prend", "on ach", "on garde", "on quitte", "on passe", "on arr", "on change",
    "einigung", "all agreed", "accord pour", "angenommen", "vote", "abstimmung", "adopté", "approuvé", "house rule",
    "replaced", "retired", "called off", "cancelled", "ersetzt", "abgeschafft", "abgesagt", "verschrottet",
    "remplacé", "annulé", "on rempl", "on comm", "on vend", "on loue", "on reporte",
)  # fmt: skip
STEM = re.compile("|".join(map(re.escape, STEMS)))
OPEN = re.compile(
    r"[?？][\"”’»」』]?\s*$|\b(?:not|never|n't|haven't|yet to|if|should|whether|until|before|jamais|pas encore|nicht|"
    r"noch nicht|não|no|ainda não|still) (?:\w+ ){0,2}"
    r"(?:decided|chose|décidé|entschieden|decidimos|decidido|resolvemos)|\b(?:noch|ainda|"
    r"encore)\b.{0,30}(?:nicht|não|pas).{0,60}(?:entschieden|decidi|décidé)"
    r"|\bnicht (?:\w+ )?(?:entschieden|beschlossen),? (?:ob|wer|wann|wie|was|wo)\b"
    r"|(?:还没|還沒|没有|沒有|尚未|如果|要不要).{0,8}(?:决定|決定)|(?:かどうか|まだ).{0,20}決め"
    r"|결정(?:했|한)다면|하기로 했다면|\b(?:to be decided|tbd|not accepted|postponed|undecided)\b",
    re.IGNORECASE,
)
# Before a decision: reported speech (SAID), conditions and habits (SUPPOSED).
SAID = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\band i )\b(?:says?|said|saying|tells?|told|asks?|asked|writes?|wrote|claims?|claimed|"
    r"thinks?|thought|believes?|announced|explained|replied|quotes?|sagt|sagte|meint|meinte|erzählt|erzählte|schrieb|fragt|"
    r"fragte|dit|disait|raconte|écrit|diz|disse|contou|dice|dijo|cuenta|ha detto|сказал[аи]?)\b[^.!?]{0,60}$"
    r"|(?:说|說|表示|宣布|告诉我们|告訴我們|认为|言った|言って)[^。]{0,10}$",
    re.IGNORECASE,
)
SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|suppose|imagine|wish|wenn|falls|ob|si|se|caso|every time|each time|whenever|usually|"
    r"always|often|sometimes|immer wenn|jedes mal|manchmal|meistens|chaque fois|toujours|sempre|às vezes|siempre)\b"
    r"[^,;]{0,50}$"
    r"|(?:如果|假如|要是|每次|いつも|もし)[^，,。]{0,12}$",
    re.IGNORECASE,
)
# `Agreed that it was` is an opinion, `agreed that it should be` a decision.
AGREED = re.compile(r"(?:agreed|settled|resolved|convenu|einig|geeinigt|combinámos)(?: that| que)?$", re.IGNORECASE)
IS_SO = re.compile(
    r"^(?:[^,;]{0,60}?)\b(?:was|were|is|are|had|has|felt|seems?|looks?|sounds?|makes?|took|war|ist|era|est|était|é)\b",
    re.IGNORECASE,
)
TO_BE = re.compile(r"\b(?:should|must|will|would|shall|to|need|soll|sollen|muss|devra|deve|debe)\b", re.IGNORECASE)
# Pronouns as the object of a decision, which nobody could look up.
POINTED = re.compile(r"\b(?:chose|picked) (?:that|this|those|these|it|them|him|her)\b", re.IGNORECASE)
POINTERS = word_set(
    "it that this them these those one ones so him her something anything nothing both either es das ça"
)
WHY = re.compile(
    r"[,;，、]?\s*(?:['’]cause\b|\b(?:because|since(?! (?:\d|then|last|yesterday|early|late|mid)\b)|so that|porque|pois"
    r"|já que|parce que|parce qu['’]|car (?=(?:il|"
    r"elle|on|le|la|les|nous|je|un|une|tout|ça|sans|ce|cette|ces|son|sa|ses|notre|nos|\w+[ei]r)\b|[cjl]['’]"
    r"|(?-i:[A-ZÀ-Þ]))|puisque|weil|denn|damit|perché|porque|"
    r"потому что)\b|因为|因為|为了|以便|เพราะ)|,\s+as\b(?! (?:well|soon|long|far|if|much|many)\b)",
    re.IGNORECASE,
)
# `da` is a word of Romance languages, too.
GERMAN_WHY = re.compile(r", da (?=\w)")
REASON = re.compile(r"(?:reasons?|begründung|gr[uü]nde?|raisons?|motiv[oi]s?|理由|原因)\s?[:：]", re.IGNORECASE)
WHY_BEFORE = re.compile(r"^(?P<why>.{3,150}?(?:ので|から|ため|때문에|因此|所以))に?[、,，]?")
SO = re.compile(
    r"\b(?:consequently|as a result|therefore|that means|por isso|por lo tanto|assim|du coup|"
    r"par conséquent|deshalb|folglich|daher|damit|quindi|поэтому)\b|因此|所以|结果|その結果|そのため|"
    r"따라서",
    re.IGNORECASE,
)
# A negation at the end of a match of TAKEN, which must stay in the title.
REFUSED = re.compile(r"\b(?:against|não)$", re.IGNORECASE)
FOR_OR_AGAINST = re.compile(r"da(?:für|gegen)", re.IGNORECASE)
LEADING = re.compile(r"^(?:(?:to|that|on|por|que|de|zu|di|pour|para|dass|de[nm])\s+|d['’]|了|要)(?=\S)", re.IGNORECASE)
GERMAN_END = re.compile(r",?\s*(?:entschieden|beschlossen|geeinigt|vereinbart)\b.*$", re.IGNORECASE)
JAPANESE_END = re.compile(
    r"(?:する|)(?:ことにした|ことにしました|ことに決めた|に決めた|に決めました|ことに決定|に決定)。?$"
)
OPENS, CLOSES = "„“«「『", "”»」』"
LATIN = re.compile("[A-Za-z]{2}")  # a name, in a text of a script without spaces
EDGES = " ,.;:。!！、…"
# Additions that do not belong into the title: `sell the car, by the way`, `drop it; Ana does the rest`.
ASIDE = re.compile(
    r",? (?:by the way|btw|after all|in the end|for now|übrigens|au fait|d'ailleurs|aliás|por cierto)(?=,|$)"
    r"|, (?:which|who|que|qui|o que|a qual|lo cual|was|was wir) .*$"
    r"|[;；].*$"
)


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision that a source states."""

    title: str
    """The decision in a few words, the title of its page."""
    sentence: Sentence
    why: str
    """The reason, from the same or the next sentence, or an empty string."""
    before: tuple[Sentence, ...]
    """The sentences before it that belong to it."""
    after: tuple[Sentence, ...]
    """The sentences after it that say what followed."""
    has_page: bool = True
    """Whether it gets a page. If not, it becomes a line on the page that it is about."""


class Stated(NamedTuple):
    """The position of the words in a sentence that state a decision."""

    start: int
    end: int
    is_sure: bool = False
    """Whether it gets a page without a name or a reason."""
    is_weak: bool = False
    """Whether it gets a page only with both a reason and a name or a contrast."""


def decisions(reading: Reading) -> tuple[Decision, ...]:
    """Return the decisions of a source that get pages, in order."""
    return tuple(decision for decision in _all(reading) if decision.has_page)


def minor_decisions(reading: Reading) -> tuple[Decision, ...]:
    """Return the decisions of a source that get no pages, in order."""
    return tuple(decision for decision in _all(reading) if not decision.has_page)


def _all(reading: Reading) -> tuple[Decision, ...]:
    """Return all decisions of a source, which are stored with its reading."""
    if reading.decisions is None:
        text = "\n".join(sentence.text for sentence in reading.sentences)
        reading.decisions = tuple(_decisions(reading)) if may_decide(text) or _is_headed(reading) else ()
    found: tuple[Decision, ...] = reading.decisions
    return found


def _decisions(reading: Reading) -> Iterator[Decision]:
    """Yield the decisions in the sentences of a source, with the sentences around them."""
    sentences = reading.sentences
    index = -1
    for line in reading.lines:
        is_headed = HEADED.fullmatch(line.heading) is not None
        for place, sentence in enumerate(line.sentences):
            index += 1
            stated = _stated(sentence.text, is_headed=is_headed and not place)
            if stated is None or (found := _decision(sentence.text, stated, reading)) is None:
                continue
            title, object, why = found
            later = sentences[index + 1 : index + 4]
            if not why and later and _gives_reason(later[0]):
                why, later = later[0].text, later[1:]
            before = tuple(
                _leading_up(sentence, sentences[max(0, index - 2) : index], line.sentences, reading.language)
            )
            after = tuple(filter(follows, later))
            yield Decision(title, sentence, why, before, after, _has_page(reading, stated, object, why))


def _leading_up(
    decided: Sentence, before: Sequence[Sentence], line: Sequence[Sentence], language: str
) -> Iterator[Sentence]:
    """Yield the sentences before a decision that are in the same line or share a word with it."""
    words = {word for word in decided.words.split() if len(word) >= WORD_MIN} - stops_of(language)
    for sentence in before:
        shares_word = SPACELESS.search(sentence.text) is not None or not words.isdisjoint(sentence.words.split())
        if (sentence in line or shares_word) and not ATTENDING.match(sentence.text):
            yield sentence


def follows(sentence: Sentence) -> bool:
    """Return whether the sentence states a consequence."""
    return SO.search(sentence.text) is not None


def may_decide(text: str) -> bool:
    """Return whether a text may contain a decision. This is a fast check without false negatives."""
    return STEM.search(text.casefold()) is not None


def _is_headed(reading: Reading) -> bool:
    return any(line.heading and HEADED.fullmatch(line.heading) for line in reading.lines)


def _gives_reason(sentence: Sentence) -> bool:
    return (WHY.match(sentence.text) or REASON.match(sentence.text)) is not None


def _stated(text: str, *, is_headed: bool) -> Stated | None:
    """Return the position of the decision that the sentence states, or None if it states none."""
    if len(text) > SENTENCE_MAX or not (is_headed or may_decide(text)) or OPEN.search(text) or POINTED.search(text):
        return None
    if taken := TAKEN.search(text):
        at = taken.start()
        found = Stated(*taken.span(), is_sure=is_headed or LABELLED.search(taken[0]) is not None)
        if AGREED.search(taken[0].rstrip()) and _is_opinion(text[taken.end() :]):
            return None
    elif done := DONE.search(text):
        at = done.start()
        found = Stated(*done.span(), is_sure=is_headed, is_weak=not is_headed)
    elif changed := CHANGED.search(text):
        at = changed.start()
        found = Stated(0, 0, is_sure=is_headed)  # the whole sentence is the decision
    elif is_headed and STATED.search(text):
        at = 0
        found = Stated(0, 0, is_sure=True)
    else:
        return None
    before = text[:at]
    return None if SAID.search(before) or SUPPOSED.search(before) or _is_quoted(text, at) else found


def _is_opinion(what: str) -> bool:
    return IS_SO.match(what) is not None and not TO_BE.search(what)


def _is_quoted(text: str, at: int) -> bool:
    """Return whether this position is inside quotation marks, even if they open or close in another sentence."""
    before, after = text[:at], text[at:]
    if before.count('"') % 2 or text.count('"') % 2:
        return True
    opened = max(map(before.rfind, OPENS))
    if before.rfind("“") > before.rfind("„") >= 0:  # German marks end as English ones begin
        opened = -1
    first = next((mark for mark in after if mark in OPENS + CLOSES), "")
    return opened > max(map(before.rfind, CLOSES)) or first in tuple(CLOSES)


def _decision(text: str, stated: Stated, reading: Reading) -> tuple[str, str, str] | None:
    """Return (title, object, reason) of a decision: the object is what was decided. None if there is no object.

    The title includes the verb if the object alone is only a word or a name.
    """
    why = WHY.search(text, stated.end)
    if why is None and reading.language == "de":
        why = GERMAN_WHY.search(text, stated.end)
    before = WHY_BEFORE.match(text) if not why and not text.isascii() else None
    reason = text[why.start() :].lstrip(" ,;，、") if why else before["why"] if before else ""
    taken = text[stated.start : stated.end]
    what = text[stated.end : why.start() if why else len(text)]
    if len(what.strip(" .。!")) < 4:  # the verb is at the end of the sentence
        what = text[before.end() if before else 0 : why.start() if why else len(text)]
        what = JAPANESE_END.sub("", what)
    elif refused := REFUSED.search(taken):
        what = text[stated.start + refused.start() : why.start() if why else len(text)]
    elif re.search(r"\b(?:not|never|no longer)\b", taken):
        what = text[stated.start : why.start() if why else len(text)]
    what = LEADING.sub("", ASIDE.sub("", GERMAN_END.sub("", what).strip(EDGES)), count=1).strip(EDGES)
    if not any(map(str.isalpha, what)):
        return None
    object = what
    is_word = " " not in what and not SPACELESS.search(what)
    if is_word or normalise(what) in reading.sightings or FOR_OR_AGAINST.fullmatch(what):
        what = text[stated.start : why.start() if why else len(text)].strip(EDGES)
    title = first_sentence(what, TITLE_MAX)
    return title[:1].upper() + title[1:], object, reason


def _has_page(reading: Reading, stated: Stated, object: str, why: str) -> bool:
    """Return whether a decision gets a page: it names something or has a reason, or is sure by its label or heading."""
    if stated.is_sure:
        return True
    words, is_named = fold_text(object).split(), _has_name(reading, object)
    if not words or words[-1] in POINTERS:
        return False
    if stated.is_weak:
        return bool(why) and (is_named or CONTRAST.search(object) is not None)
    return is_named or bool(why)


def _has_name(reading: Reading, object: str) -> bool:
    """Return whether the object of a decision contains a name."""
    said = fold_text(object)
    if any(padded(key) in said for key, sighting in reading.sightings.items() if sighting.marks - UNSURE):
        return True
    if reading.language == "de":
        return any(run.is_sure or run.is_bare for run in runs(object, "de"))
    return SPACELESS.search(object) is not None and LATIN.search(object) is not None
