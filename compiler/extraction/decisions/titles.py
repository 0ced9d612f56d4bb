"""Titles of posts that say what their writer decided: `Leaving Tunely`, `Why I sold the van`, `Adiós, Tunely`.

Manuals have such titles, too, so that the text must be in the first person.
"""

import re

from ..texts.text import OWN_WORDS, Sentence
from .stated import Stated

OWN_MIN = 3  # sentences in the first person
OWN_SHARE = 5  # one sentence of so many is in the first person

DONE_EN = (
    r"(?:left|quit|moved|switched|sold|dropped|ditched|stopped|gave up|cancelled|canceled|deleted|replaced|chose|picked"
    r"|went (?:back )?(?:to|with)|migrated|shut down|closed|killed|returned)"
)
DOING_EN = (
    r"(?:leaving|quitting|ditching|dropping|abandoning|keeping|selling|shutting down|closing|sunsetting|cancell?ing"
    r"|switching (?:from|to|back|away)|moving (?:from|to|back|away|off|on from)|migrating (?:from|to|away|off)"
    r"|returning to"
    r"|going back to|giving up on|giving up|saying goodbye to|goodbye,? |farewell,? |bye,? |back to|replacing"
    r"|sticking with"
    r"|staying with|so long,? )"
)
# The title of the page leaves out what stands before a lookahead.
TITLED = {
    "en": re.compile(
        rf"(?:(?:why|how) (?:i|we)(?:['’]m| am|['’]re| are|['’]ve| have)? |(?:i|we)(?:['’]m| am|['’]re| are|['’]ve"
        rf"| have)? )"
        rf"(?:finally |just )?(?=(?:{DONE_EN}|{DOING_EN})\b)|(?={DOING_EN} ?\S)"
        rf"|(?=from [^,.:?]{{2,30}} to [^,.:?]{{2,40}}$)",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"(?:warum|wieso|weshalb) (?=ich\b)|(?=(?:abschied von|umstieg (?:auf|von)|wechsel (?:zu|von|auf)|zurück zu"
        r"|umzug"
        r" (?:auf|zu|von|nach)|weg von|schluss mit|tschüss|adieu|ich (?:verlasse|kündige|verkaufe|wechsle"
        r"|bleibe bei))\b)"
        r"|(?=von [^,.:?]{2,30} zu [^,.:?]{2,40}$)",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"pourquoi (?=(?:j['’]ai|je|nous)\b)|(?=(?:je quitte|j['’]arrête|j['’]ai (?:quitté|vendu|arrêté)|adieu"
        r"|au revoir"
        r"|retour à|passage à|passer à|fin de)\b)|(?=de [^,.:?]{2,30} à [^,.:?]{2,40}$)",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"por qué (?=(?:dejé|dejo|cambié|me fui|vendí|he dejado)\b)|(?=(?:adiós,? a|adiós|dejo|me paso a|vuelvo a"
        r"|vuelta a"
        r"|me quedo con)\b)|(?=de [^,.:?]{2,30} a [^,.:?]{2,40}$)",
        re.IGNORECASE,
    ),
    "pt": re.compile(
        r"por que (?=(?:larguei|troquei|deixei|saí|vendi)\b)|(?=(?:adeus|de volta a[o]?|troquei|larguei|fico com)\b)",
        re.IGNORECASE,
    ),
    "it": re.compile(
        r"perché (?=(?:ho|lascio|me ne)\b)|(?=(?:addio|ritorno a|passo a|lascio|ho (?:lasciato|venduto))\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?=(?:告别|告別|再见|再見|弃用|放弃|离开|離開|卖掉|没有去|不去|不买))|(?=.{0,20}(?:搬到|迁移到|遷移到|换成"
        r"|換成|换到|转到|转向|迁到).{2,20}$)"
        r"|(?=从.{2,20}(?:到|迁移|换))"
    ),
    "ja": re.compile(
        r"(?=.{1,30}(?:に|へ)(?:移行|乗り換え|引っ越し|移転|戻)(?:した|しました|する|ました|え|り|った|話)?.{0,4}$)"
        r"|(?=.{1,30}を(?:やめた|やめました|やめる|卒業|手放|解約))|(?=さよなら|さらば)"
    ),
}


def find_statement(title: str, language: str) -> Stated | None:
    """Return the position of the decision that the title of a post states, or None if it states none."""
    pattern = TITLED.get(language)
    found = pattern.match(title) if pattern and title[-1:] not in "?？" else None
    return Stated(found.end(), found.end(), is_sure=True) if found else None


def is_personal(sentences: tuple[Sentence, ...]) -> bool:
    """Return whether a text is in the first person."""
    own = sum(OWN_WORDS.search(sentence.words) is not None for sentence in sentences)
    return own >= OWN_MIN and own * OWN_SHARE >= len(sentences)
