"""Decisions: a sentence that says that one was taken, why, and what followed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from content.rollups import first_sentence

from .sightings import Reading
from .text import Sentence

TITLE_MAX = 90
SENTENCE_MAX = 400

TAKEN = re.compile(
    r"\b(?:we|i) (?:have |'ve |finally |all |both |then )?(?:decided|chose|opted|agreed|resolved|"
    r"settled) (?:(?:to|on|for|that|against|not)\b|in favou?r)?"
    r"|\b(?:and i|and me|[A-Z]\w+ and i) (?:decided|chose|agreed)\b(?: to| on| that)?"
    r"|\b(?:we|i) (?:chose|picked)\b(?=.{3,60}\b(?:over|instead|rather|because|since)\b)|\bwe chose\b"
    r"|\bdecision:|\bdecided:|\bentscheidung:|\bdécision ?:|\bdecisão:|\bdecisión:"
    r"|\bwe(?:'ll| will) (?:not use|go with|never use|no longer)\b"
    r"|\b(?:decidimos|resolvemos|optámos|optamos|escolhemos|combinámos|hemos decidido|elegimos|"
    r"acordamos)\b(?: que| por| não)?"
    r"|\b(?:nous avons|on a|j['’]ai|nous) (?:finalement |enfin |donc |tous )?(?:décidé|choisi|opté|"
    r"convenu|décidons)\b(?: de| pour| que|)"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?:beschlossen|entschieden|geeinigt)\b"
    r"|\b(?:wir|ich) haben? (?:uns |mich )?(?=.{0,120}(?:entschieden|beschlossen|geeinigt))"
    r"|\b(?:wir|ich) (?:entscheiden|entschieden|beschlossen|einigten|beschließen)\b(?: uns| mich)?"
    r"|\babbiamo (?:deciso|scelto|optato)|\b(?:мы|я) (?:решили?|выбрали?)\b"
    r"|(?:我们|我們|大家|我)(?:最后|最後|终于|終於|今天|一起|已经|已經)?(?:决定|決定|选择了|選擇了)|"
    r"(?:することにした|することにしました|ことにした|ことに決めた|に決めた|に決めました|ことにしました)"
    r"|(?:하|않|말)기로 (?:했|결정)[가-힣]*|(?:เรา|ผม|ฉัน)(?:ได้)?ตัดสินใจ",
    re.IGNORECASE,
)
# A part of every text that TAKEN finds, so that it need not be tried on the many others.
STEMS = (
    "decid", "decis", "chose", "opted", "agreed", "resolv", "settled", "picked", "not use", "go with", "never use",
    "no longer", "entsch", "beschl", "einigt", "décid", "décis", "choisi", "opté", "convenu", "optá", "optam", "optat",
    "escolh", "combin", "elegim", "acorda", "scelt", "решил", "выбрал", "决定", "決定", "选择了", "選擇了", "ことにし",
    "に決め", "하기로", "않기로", "말기로",
    "ตัดสินใจ",
)  # fmt: skip
OPEN = re.compile(
    r"[?？]\s*$|\b(?:not|never|n't|haven't|yet to|if|should|whether|until|before|jamais|pas encore|nicht|"
    r"noch nicht|não|no|ainda não|still) (?:\w+ ){0,2}"
    r"(?:decided|chose|décidé|entschieden|decidimos|decidido|resolvemos)|\b(?:noch|ainda|"
    r"encore)\b.{0,30}(?:nicht|não|pas).{0,60}(?:entschieden|decidi|décidé)"
    r"|(?:还没|還沒|没有|沒有|尚未|如果|要不要).{0,8}(?:决定|決定)|(?:かどうか|まだ).{0,20}決め"
    r"|결정(?:했|한)다면|하기로 했다면",
    re.IGNORECASE,
)
WHY = re.compile(
    r"[,;，、]?\s*(?:\b(?:because|since|so that|porque|pois|já que|parce que|parce qu['’]|car (?=(?:il|"
    r"elle|on|le|la|les|nous|je|un|une|tout|ça)\b|[cjl]['’])|puisque|weil|denn|damit|perché|porque|"
    r"потому что)\b|因为|因為|为了|以便|เพราะ)",
    re.IGNORECASE,
)
WHY_BEFORE = re.compile(r"^(?P<why>.{3,150}?(?:ので|から|ため|때문에|因此|所以))[、,，]?")
SO = re.compile(
    r"\b(?:consequently|as a result|therefore|that means|por isso|por lo tanto|assim|du coup|"
    r"par conséquent|deshalb|folglich|daher|damit|quindi|поэтому)\b|因此|所以|结果|その結果|そのため|"
    r"따라서",
    re.IGNORECASE,
)
# The end of what TAKEN finds, where it says that something is not to be: a title without it would say the opposite.
REFUSED = re.compile(r"\b(?:against|não)$", re.IGNORECASE)
FOR_OR_AGAINST = re.compile(r"da(?:für|gegen)", re.IGNORECASE)
LEADING = re.compile(r"^(?:to|that|on|por|que|de|d['’]|zu|di|pour|para|für|dass|了|要)\s*(?=\S)", re.IGNORECASE)
GERMAN_END = re.compile(r",?\s*(?:entschieden|beschlossen|geeinigt)\b.*$", re.IGNORECASE)
JAPANESE_END = re.compile(r"(?:する|)(?:ことにした|ことにしました|ことに決めた|に決めた|に決めました)。?$")


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision: `title` says what was decided; `why` is the part of the sentence with a reason, "" without one."""

    title: str
    sentence: Sentence
    why: str
    before: tuple[Sentence, ...]
    after: tuple[Sentence, ...]


def decisions(reading: Reading) -> tuple[Decision, ...]:
    """Return the decisions that a source says were taken, in order; questions and what is still open are none."""
    if reading.decisions is None:
        text = "\n".join(sentence.text for sentence in reading.sentences)
        reading.decisions = tuple(_decisions(reading)) if may_decide(text) else ()
    found: tuple[Decision, ...] = reading.decisions
    return found


def _decisions(reading: Reading) -> Iterator[Decision]:
    sentences = reading.sentences
    for index, sentence in enumerate(sentences):
        if len(sentence.text) <= SENTENCE_MAX and (found := _decision(sentence)):
            title, why = found
            later = sentences[index + 1 : index + 4]
            if not why and later and _gives_reason(later[0]):
                why, later = later[0].text, later[1:]
            yield Decision(title, sentence, why, sentences[max(0, index - 2) : index], tuple(filter(follows, later)))


def follows(sentence: Sentence) -> bool:
    """Return whether the sentence says what came of something."""
    return SO.search(sentence.text) is not None


def may_decide(text: str) -> bool:
    """Return quickly whether a text may hold a decision: false is certain."""
    folded = text.casefold()
    return any(stem in folded for stem in STEMS)


def _gives_reason(sentence: Sentence) -> bool:
    found = WHY.match(sentence.text)
    return found is not None


def _decision(sentence: Sentence) -> tuple[str, str] | None:
    text = sentence.text
    taken = TAKEN.search(text) if may_decide(text) else None
    if not taken or OPEN.search(text):
        return None
    why = WHY.search(text, taken.end())
    before = WHY_BEFORE.match(text) if not why and not text.isascii() else None
    reason = text[why.start() :].lstrip(" ,;，、") if why else before["why"] if before else ""
    what = text[taken.end() : why.start() if why else len(text)]
    if len(what.strip(" .。!")) < 4:  # the verb stands at the end
        what = text[before.end() if before else 0 : why.start() if why else len(text)]
        what = JAPANESE_END.sub("", what)
    elif refused := REFUSED.search(taken[0]):
        what = text[taken.start() + refused.start() : why.start() if why else len(text)]
    elif re.search(r"\b(?:not|never|no longer)\b", taken[0]):
        what = text[taken.start() : why.start() if why else len(text)]
    what = LEADING.sub("", GERMAN_END.sub("", what).strip(" ,.;:。!"), count=1).strip(" ,.;:。!、")
    if not any(map(str.isalpha, what)):
        return None
    if (" " not in what and text.isascii()) or FOR_OR_AGAINST.fullmatch(what):  # one word says too little
        what = text[: why.start() if why else len(text)].strip(" ,.;:。!、")
    title = first_sentence(what, TITLE_MAX)
    return title[:1].upper() + title[1:], reason
