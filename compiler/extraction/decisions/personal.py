"""Phrases with which the writer of a chat, a diary or a blog says what they decided, in the first person.

There is a pattern for each language, as every pattern costs time.
"""

import re

from .stated import Stated

HAVE = r"(?:(?:['’]ve| have)? (?:already |finally |also |just |now |then |therefore |recently |officially )?|['’]ve )"
AM = r"(?:['’]m| am|['’]re| are|['’]ve been| have been) (?:now |finally |definitely |officially |just )?"
WILL = r"(?:['’]ll| will|['’]m going to| am going to|['’]re going to) (?:now |just |definitely |probably )?"
# Decisions with a name or a reason: `I turned down the offer because …`. The title includes what a lookahead matches.
PERSONAL = {
    "en": re.compile(
        r"\b(?:(?:I|[Ww]e)(?:"
        rf"{HAVE}(?=(?:turned down|gave (?:in )?(?:my |our )?notice|given (?:in )?(?:my |our )?notice"
        r"|gave in (?:my|our) notice|handed in (?:my|our)|resigned (?:from|as)|stepped down"
        r"|went with (?=.{2,40}\b(?:in the end|instead|over|rather)\b)"
        r"|said (?:no|yes) to (?:the|his|her|their|that) (?:offer|job|project|deal)"
        r"|given up on|gave up on|ended up (?:choosing|picking|buying|going with)|settled (?:on|for)"
        r"|opted for|elected to|voted (?:to|against)|declined|canned|scrapped|ditched|shelved)\b)"
        rf"|{AM}(?=(?:dropping|ditching|scrapping|quitting|shutting (?:down|it)|giving up"
        r"|going with|sticking (?:with|to)|staying with|settling (?:on|for)|stepping (?:down|back)|resigning"
        r"|going back to using|done with|not (?:renewing|buying|using|going to (?:renew|buy|take|use)))\b)"
        rf"|{WILL}(?=(?:stick (?:with|to)|stay with|go with|continue (?:using|to use)|return to using"
        r"|stop using|no longer use|not renew)\b)"
        r"|(?:['’]ve| have)? (?:made|taken|took|come to|reached) (?:the|a|my|our)(?: \w+)? decision(?: to| that"
        r"| not)?\b"
        r"|(?:['’]ve| have)? (?:made|made the) (?:call|choice) to\b|(?:['’]ve| have)? made up (?:my|our) minds?(?: to"
        r"| that)\b)"
        r"|(?:[Tt]he|[Mm]y|[Oo]ur) (?:final |big )?decision (?:is|was)(?: made)? to\b)"
        r"|^(?:Finally,? |In the end,? )?(?=(?:[Ww]ent with (?=.{2,40}\b(?:in the end|instead|over|rather)\b)"
        r"|[Tt]urned down|[Gg]ave up on|[Ss]ettled (?:on|for)|[Ss]ticking with"
        r"|[Ss]taying with|[Gg]oing with|[Ee]nded up (?:buying|choosing|picking|going with)|[Gg]iving up on)\b)"
    ),
    "de": re.compile(
        r"\b(?:[Ii]ch (?:bleibe?|habe? mich) (?:jetzt |nun |doch )?(?:bei|für|gegen) (?=\w)"
        r"|[Bb]leibe? (?:jetzt |nun |doch )?bei (?=[A-ZÄÖÜ]\w)"
        r"|(?:[Dd]rum|[Dd]arum|[Dd]eshalb|[Dd]aher|[Dd]eswegen) (?=lieber\b)"
        r"|[Ii]ch (?:kündige|steige (?:aus|um)|trete zurück|höre auf)\b)"
    ),
    "fr": re.compile(
        r"\b(?:(?:[Oo]n|[Jj]e|[Nn]ous) (?:part|pars|partons|reste|restons) (?:sur|avec|chez)\b"
        r"|[Jj]['’]ai (?:finalement |enfin |donc )?(?=(?:renoncé à|démissionné|refusé|laissé tomber|abandonné"
        r"|résilié)\b)"
        r"|[Vv]a pour (?=(?:le|la|les|un|une|[A-Z])))"
    ),
    "es": re.compile(
        r"\b(?:(?:[Mm]e quedo|[Nn]os quedamos) con\b|[Mm]e (?:decido|decidí|decanto|he decantado) por\b"
        r"|(?:[Hh]e decidido|[Dd]ecidí|[Hh]e optado por|[Oo]pté por|[Hh]e elegido|[Ee]legí)\b(?: que)?"
        r"|(?:[Hh]e|[Hh]emos) (?=(?:dejado|rechazado|renunciado|cancelado|dimitido)\b))"
    ),
    "pt": re.compile(
        r"\b(?:(?:[Dd]ecidi|[Rr]esolvi|[Oo]ptei por|[Ee]scolhi|[Ff]iquei com|[Vv]ou ficar com"
        r"|[Ff]icamos com)\b(?: que)?"
        r"|(?=(?:[Dd]esisti d[eao]|[Rr]ecusei|[Cc]ancelei|[Ll]arguei)\b))"
    ),
    "it": re.compile(
        r"\b(?:(?:[Hh]o optato per|[Rr]esto con|[Mm]i tengo|[Dd]ecido di|[Vv]ado con)\b"
        r"|[Hh]o (?=(?:rifiutato|rinunciato|disdetto|lasciato perdere|annullato)\b))"
    ),
    "ru": re.compile(
        r"\b(?:[Оо]стаюсь на\b|(?:[Яя] )?(?=(?:[Оо]тказал(?:ся|ась) от|[Пп]ереш[ёе]л на"
        "|[Пп]ерешла на)\b))"
    ),
}
# Decisions only with a reason and a name or a contrast: `I sold the Vortek because …`.
PERSONAL_WEAK = {
    "en": re.compile(
        rf"\bI(?:{HAVE}(?=(?:moved (?:all|every\w*|my|our|the|from|back|over|to [A-Z]|[A-Z]\w+ )|switched|migrated|sold"
        r"|cancelled|canceled|quit|replaced|dropped|returned|swapped|traded|deleted|retired|closed"
        r"|went with|gone with|gave up|given up|left [A-Z]\w+ (?:for|because|since)|renewed|rejected|refused"
        r"|accepted|rewrote"
        r"|stopped|changed (?:the|my|from))\b)"
        rf"|{AM}(?=(?:keeping|selling|moving|switching|replacing|cancelling|canceling|migrating|leaving)\b)"
        rf"|{WILL}(?=(?:keep|sell|switch|move|use|replace|cancel|migrate|renew|rent|rewrite|return to)\b))"
        r"|^(?=(?:Switched|Moved|Migrated|Ditched|Dropped|Cancelled|Canceled|Sold|Quit|Gave up|Replaced|Swapped"
        r"|Leaving) \w)"
        r"|^(?=(?:From|Starting|As of) (?:next |this )?\w+(?: \d{1,4})?(?: on)?,? (?:I|we)\b|No more \w)"
    ),
    "de": re.compile(
        r"^(?=Ab (?:[A-Z]\w+|nächste[mnrs] \w+|dem [\w.]{1,6}(?: \w+)?) (?:\w+ ){0,2}(?:ich|wir)\b"
        r"|Keine?n? .{2,40} mehr\b)"
        r"|\b(?:(?:[Ii]ch )?(?=[Hh]ab[’']?e? (?:\w+ ){1,6}(?:gekündigt|verkauft|abgesagt)\b)"
        r"|[Ww]ir (?=\w+ (?:\w+ ){0,3}doch (?:nicht |lieber |wieder )?(?:bei|nach|zu|in|im|auf|mit|ohne|keine?n?)\b)"
        r"|[Ii]ch (?=\w+ (?:\w+ ){0,2}keine?n? .{2,60} mehr\b)"
        r"|[Ii]ch (?=(?:wechs(?:le|el)|verkaufe?|behalte?|bestelle?|streiche?|verzichte) )"
        r"|(?=\w+ (?:bau|kauf|nehm|mach|pflanz|brauch|les|schau)e? ich nicht mehr\b)"
        r"|[Nn]ächstes (?:[Jj]ahr|[Mm]al) (?=(?:nur noch|keine?n? .{2,40} mehr|wieder nur|lieber)\b))"
    ),
    "fr": re.compile(
        r"^(?=Plus de [^,.]{2,40} (?:pour moi|chez nous)\b)|\b[Jj]e (?=(?:garde|quitte|passe à|arrête|change de"
        r"|remplace|choisis|commande|vends|résilie|renonce)\b)"
    ),
    "es": re.compile(
        r"\b(?=(?:[Mm]e paso a|[Nn]os pasamos a|[Dd]ejo [A-Z]\w+ por|[Cc]ambio [A-Z]\w+ por|[Hh]e vendido|[Vv]endí)\b)"
    ),
    "pt": re.compile(r"\b(?=(?:[Tt]roquei|[Mm]udei (?:para|de)|[Vv]endi|[Pp]assei a usar)\b)"),
    "it": re.compile(r"\b(?=(?:[Pp]asso a [A-Z]|[Ll]ascio [A-Z]\w+ per|[Hh]o (?:lasciato|venduto|cambiato))\b)"),
}
# `so Hugo it is`, `Back to Hugo.`
CHOSEN = re.compile(
    r"\b[Ss]o,? (?P<what>(?:the |an? )?[\w’'-]+(?: [\w’'-]+){0,4}) it is\b(?=[,.:;!)]|$)"
    r"|^(?P<it>(?:The )?[A-Z][\w-]+(?: [A-Z\d][\w-]*){0,3}) it is[.!]"
    r"|^(?:So,? )?(?P<back>[Bb]ack to [A-Z][\w-]+(?: [\w-]+){0,3})(?: it is)?[.!]$"
    r"|\b[Ss]o there goes (?P<gone>(?:the|our|my) [\w-]+(?: [\w-]+){0,3})(?=[,.!;:]|$)"
)
NO_CHOICE = re.compile(
    r"\b(?:as|what|how|that|this|there|where|here|when|who|think|knows?|says?|said|so|see|however|because|if|like|true"
    r"|good|bad|weekend|evening"
    r"|day|night|morning|week)$",
    re.IGNORECASE,
)
# Words in a sentence in the first person that make it no decision.
NOT_MEANT = re.compile(
    r"\b(?:almost|nearly|would|wouldn['’]t|could|might|maybe|perhaps|should|if i|wish|used to|tempted|thinking (?:of"
    r"|about)"
    r"|considering|considered|planned to|wanted to|hope to|hoping|someday|one day|usually|often|always|sometimes"
    r"|beinahe"
    r"|vielleicht|würde|könnte|peut-être|presque|quizás?|tal vez|casi|talvez|quase|forse|quasi)\b",
    re.IGNORECASE,
)


def may_decide(text: str, language: str) -> bool:
    """Return whether a text in this language may contain such a decision."""
    own, weak = PERSONAL.get(language), PERSONAL_WEAK.get(language)
    found = (own and own.search(text)) or (weak and weak.search(text))
    return found is not None or (
        language == "en" and (" it is" in text or "ack to " in text or "o there goes " in text)
    )


def find_statement(text: str, language: str) -> Stated | None:
    """Return the position of the decision that a sentence in the first person states, or None if it states none."""
    own, weak = PERSONAL.get(language), PERSONAL_WEAK.get(language)
    if own and (found := own.search(text)):
        stated = Stated(*found.span())
    elif weak and (found := weak.search(text)):
        stated = Stated(*found.span(), is_weak=True)
    elif language == "en" and (found := CHOSEN.search(text)):
        name = next(name for name in ("what", "it", "back", "gone") if found[name])
        start = found.start() + 3 if name == "gone" else found.start(name)
        if NO_CHOICE.search(found[name]):
            return None
        return Stated(start, start, until=found.end())
    else:
        return None
    return None if NOT_MEANT.search(text, 0, found.end() + 40) else stated
