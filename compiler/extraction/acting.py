"""What stands around a name and says that it is somebody's, or that it does something."""

import re
from collections.abc import Sequence

from .german_nouns import KIN
from .stopwords import word_set

WITH = word_set(
    """
    with met told asked called and thanked mit und avec et com con y e hugged invited visited trifft traf für
    bei von para pour chez à ao
    """
)
TOLD = word_set(
    """
    says said thinks thought told asked asks met sent brought came cried laughed wants wanted works worked
    writes wrote lives lived knows found made cooked sang played baked plays sings helped showed paid remembered
    recommends prefers sagt sagte meint meinte fragt fragte brachte kam will wohnt arbeitet kocht kochte spielt
    lacht lachte erzählt erzählte schreibt schrieb dit disait pense pensait veut travaille habite demande
    demandait raconte raconta chante préfère disse diz acha achou quer trabalha mora perguntou contou trouxe
    veio cozinhou mostrou ligou riu prefere dice dijo piensa quiere trabaja vive preguntó trajo dice cree hat
    ist war a est
    """
)
BEING = word_set(
    """
    ate drank drove fell felt flew forgot grew heard held hid kept led left let lit meant put ran read rode rose
    sat saw set shook shut slept sold spoke spent stood swam taught threw understood woke wore won broke bought
    built caught chose cut dug drew wants needs likes thinks loves hates sleeps kam ging fand sah rief schlief
    blieb trug lief trank bekam wurde muss kann soll möchte isst liest fährt garde veut peut doit prend vient
    sait is was has had are were will can does did isn't wasn't knew took gave lost moved serves opened closed
    hosts runs opens closes stays offers sells é foi tem vai fica abriu fechou estava est a était reste ouvre
    ferme hat war wird ist öffnet schließt liegt bleibt gab es fue tiene está
    """
)
COMPANY = frozenset(
    {("and", "I"), ("and", "me"), ("und", "ich"), ("et", "moi"), ("e", "eu"), ("y", "yo"), ("ed", "io"), ("e", "io")}
)
NOT_TELLING = word_set("hat ist war a est came will made found worked works")  # things do these, too
# What somebody did, before the name of whom or what: `Called Priya`, `Croisé Madame Perrin`, `Encontrei a Inês`.
DONE = re.compile(r"^(?:\w{4,}ed|\w{5,}[éi]|\w{3,}(?:ei|ámos|emos|imos))$")
ACTED = {
    "en": re.compile("..ed$"),
    "de": re.compile("(?:..te|...[^e]t)$"),
    "fr": re.compile("^(?:[mnlst]['’].|(?:se|me|nous|ne|y)$)|...(?:ait|era|ça)$"),
    "pt": re.compile("..(?:ou|eu|iu|ava)$"),
    "es": re.compile("..(?:ó|aba|ía)$"),
    "it": re.compile("..(?:ò|ava|eva)$"),
}


def acts(following: str, language: str) -> bool:
    """Whether this word behind a name says what somebody or something does or is."""
    if (following, language) == ("a", "en"):
        return False
    return (
        following in TOLD or following in BEING or (language in ACTED and ACTED[language].search(following) is not None)
    )


def is_told(previous: str, following: str) -> bool:
    return (following in TOLD and following not in NOT_TELLING) or previous in WITH or previous in KIN


def is_company(words: Sequence[str], last: int) -> bool:
    """`Theo and I`, `Jonas und ich`: nothing but a person does something together with whoever writes."""
    return last + 1 < len(words) and (words[last].lower(), words[last + 1]) in COMPANY
