"""Names by their capitals, in the scripts that have them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .stopwords import DATES, stops_of, word_set
from .text import WORD

WORDS_MAX = 6
RUNS_MAX = 60  # names of one sentence: more are a list, and lists are cut
PARTICLES = word_set("de do da dos das del della di du des van von der den of la le al el y e")
HONORIFICS = word_set(
    """
    dr mr mrs ms st sr sra dra prof mme mlle hr fr frau herr herrn chef dona dom tia tio tante onkel madame
    monsieur docteur doctor professor professeur professora doutor doutora señora señor senhor senhora oncle
    aunt uncle grandma grandpa maître mestre padre sœur schwester bruder doktor
    """
)
OPENERS = frozenset('“"«»¿¡([:–—•-*>\ue001/→|„‚')
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
KIN = word_set(
    "schwester bruder tochter sohn cousine cousin freundin freund kollegin kollege nachbarin nachbar nichte neffe"
)
NAMED_KINDS = word_set(
    """
    café cafe restaurant hotel gasthaus gasthof pension bar kneipe kino theater museum galerie buchhandlung bäckerei
    konditorei eisdiele pizzeria markthalle brauerei weingut hof praxis schule grundschule gymnasium bahnhof villa haus
    schloss burg kloster kirche sankt park strandbad freibad tram linie bus
    """
)
NOT_TELLING = word_set("hat ist war a est came will made found worked works")  # things do these, too
DETERMINERS = word_set(
    """
    der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine sein
    seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure kein
    keine keinen keinem keiner dieser diese dieses diesen diesem jeder jede jedes jeden jedem welche welcher
    welches alle alles viel viele vielen mehr wenig etwas zwei drei vier fünf sechs sieben acht neun zehn zwölf
    paar im am beim zum zur vom ins ans aufs
    """
)
ABSTRACT = re.compile(
    r"(?:ung|heit|keit|schaft|tion|tät|nis|ismus|ling|chen|lein|ungen|eien|zeit|tag|abend|morgen|stunde)n?$"
)
BARE = word_set("auf über mit von bei für ohne nach in aus gegen und zu an durch oder wie als dass")
NO_ARTICLE = word_set(
    """
    hause haus ruhe zeit kaffee tee wasser regen schnee sonne wein bier brot käse kuchen milch essen angst
    hunger durst lust spaß glück pech geld urlaub ferien freunde freunden kinder kindern kollegen leute leuten
    eltern freude musik sport yoga fisch fleisch obst gemüse salat suppe pizza pasta reis nudeln butter honig
    zucker salz eis mittag abend morgen nacht uhr ende anfang mitte wochen tagen tage monaten jahren stunden
    minuten euro grad meter kilometer prozent recht fuß bus bahn zug auto rad fahrrad ordnung form frage
    gegensatz hand platz bett arbeit schule handy internet papier holz glas karten blumen büchern bücher bildern
    tränen bauchschmerzen kopfschmerzen fieber sahne tomaten zimt kerzen gäste gästen nachbarn familie mama papa
    oma opa frühstück mittagessen abendessen sicht farbe dosen gruppen deutsch englisch französisch
    portugiesisch spanisch dank stadt land see meer garten küche zwiebeln kartoffeln äpfel äpfeln hilfe vorsicht
    feierabend weihnachten ostern silvester schluss teil beispiel bezug plugins notizen links dateien ordnern
    tags vorlagen befehlen versionen markdown erde öl senf pfeffer speck pilze pilzen
    """
)
GERMAN_PLACE = re.compile(
    r"-(?:Park|Platz|Straße|Strasse|Allee|Weg|Brücke|Ring|Ufer|Schule|Gymnasium|Haus|Kirche|Museum|See|Halle)$"
)
# One word, and the ones of these that are kinds of places, not names of some.
GERMAN_COMPOUND = re.compile(
    r"^[A-ZÄÖÜ][a-zäöüß]{3,}(?:berg|burg|see|park|platz|markt|brücke|turm|tor|garten|hof|bach|tal|wald|insel|kirche|dom|"
    r"schloss|quelle|mühle|hütte|viertel|stadt|straße|strasse|allee|gasse|ufer|museum|halle|stadion|bad|haus)$"
)
KINDS_OF_PLACE = word_set(
    """
    spielplatz parkplatz arbeitsplatz sportplatz fußballplatz sitzplatz campingplatz zeltplatz stellplatz tennisplatz
    marktplatz bahnhof hauptbahnhof bauernhof friedhof innenhof hinterhof schulhof flughafen supermarkt flohmarkt
    weihnachtsmarkt wochenmarkt baumarkt arbeitsmarkt getränkemarkt fischmarkt kindergarten biergarten schrebergarten
    gemüsegarten wintergarten vorgarten botanischengarten innenstadt altstadt großstadt kleinstadt hauptstadt
    heimatstadt nachbarstadt neustadt krankenhaus treppenhaus gasthaus kaufhaus rathaus wohnhaus gewächshaus
    baumhaus ferienhaus elternhaus treibhaus hochhaus parkhaus schwimmbad freibad hallenbad badezimmer turnhalle
    sporthalle markthalle lagerhalle eingangshalle konzerthalle messehalle fabrikhalle hauptstraße nebenstraße
    landstraße einbahnstraße seitenstraße dorfstraße hauptkirche dorfkirche stadtkirche kirchturm fernsehturm
    aussichtsturm wasserturm leuchtturm eigentor gartentor stadttor hoftor badesee stausee baggersee bergsee
    berghütte skihütte almhütte holzhütte stadtpark freizeitpark wildpark fuhrpark skatepark stadtviertel
    stadtmuseum heimatmuseum kunstmuseum freilichtmuseum regenwald mischwald nadelwald weinberg zugbrücke
    fußgängerbrücke eisenbahnbrücke autobahnbrücke holzbrücke wohnviertel halbinsel verkehrsinsel fußballstadion
    zuhaus drogeriemarkt fachwerkhaus schulhaus autohaus bücherhalle
    """
)
ELIDED = re.compile(r"(?:[ldjnstmc]|qu)['’](?=\w)", re.IGNORECASE)
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


class Run(NamedTuple):
    """A name by its capitals. `opens` a sentence: then the capital of its first word says nothing."""

    name: str
    opens: bool
    is_person: bool
    is_sure: bool
    is_bare: bool
    """German: a noun without its article, which may be a name."""
    acts: bool
    """A verb follows that says what somebody or something does or is."""


class Token(NamedTuple):
    text: str
    start: int
    end: int


def runs(sentence: str, language: str) -> Iterator[Run]:
    """The names of a sentence, left to right. `Austin, Texas` is two."""
    tokens = list(_tokens(sentence))
    if language != "de" and _is_heading(tokens):
        return
    index = found = 0
    while index < len(tokens) and found < RUNS_MAX:
        if not tokens[index].text[0].isupper():
            index += 1
            continue
        end = _end(sentence, tokens, index)
        run = _run(sentence, tokens, index, end, language)
        if run:
            found += 1
            yield run
        index = end


def _tokens(sentence: str) -> Iterator[Token]:
    """Words, without an elided article or preposition: `l'Île` is `Île`."""
    for match in WORD.finditer(sentence):
        elided = ELIDED.match(match[0]) if len(match[0]) > 2 and ("'" in match[0] or "’" in match[0]) else None
        start = match.start() + (elided.end() if elided else 0)
        yield Token(sentence[start : match.end()], start, match.end())


def _is_heading(tokens: list[Token]) -> bool:
    """All words with capitals say nothing about any of them."""
    long = [token.text for token in tokens if len(token.text) > 3]
    return len(long) >= 5 and all(text[0].isupper() for text in long)


def _end(sentence: str, tokens: list[Token], start: int) -> int:
    """After the last word of the name: capitals, small particles between them, a number behind."""
    end = start + 1
    while end < len(tokens) and end - start < WORDS_MAX and not _is_whole(tokens[end - 1].text):
        ahead = end
        while (
            ahead < min(end + 2, len(tokens)) and tokens[ahead].text in PARTICLES and _joined(sentence, tokens, ahead)
        ):
            ahead += 1
        if ahead >= len(tokens) or not _joined(sentence, tokens, ahead):
            break
        text = tokens[ahead].text
        if text[0].isupper():
            end = ahead + 1
        elif ahead == end and text.isdigit() and len(text) <= 4 and sentence[tokens[ahead].end :][:1] not in (":", "."):
            return end + 1
        else:
            break
    return end


def _is_whole(word: str) -> bool:
    """`Clara-Zetkin-Park`: nothing belongs behind it."""
    return word.count("-") > 1 and sum(map(str.isupper, word)) > 2


def _joined(sentence: str, tokens: list[Token], index: int) -> bool:
    """Only spaces before this word; after `Dr` and its like a full stop too."""
    gap = sentence[tokens[index - 1].end : tokens[index].start]
    return gap.isspace() or (gap.strip() == "." and tokens[index - 1].text.lower() in HONORIFICS)


def _run(sentence: str, tokens: list[Token], start: int, end: int, language: str) -> Run | None:
    before = sentence[: tokens[start].start].rstrip()
    opens = not before or before[-1] in OPENERS
    first, last = start, end
    stops = stops_of(language)
    while first < last and (
        tokens[first].text.lower() in PARTICLES or _bare(tokens[first].text) in stops or tokens[first].text.isdigit()
    ):
        first, opens = first + 1, False
    honorific = next((at for at in range(first + 1, last - 1) if tokens[at].text.lower() in HONORIFICS), None)
    if opens and (honorific or (last - first > 1 and DONE.search(tokens[first].text))):
        first, opens = honorific or first + 1, False
    while first < last and _bare(tokens[last - 1].text) in DATES:
        last -= 1
    while first < last and _bare(tokens[last - 1].text) in stops and not tokens[last - 1].text.isupper():
        last -= 1
    while language == "de" and last - first > 1 and tokens[last - 1].text.lower() in NO_ARTICLE:
        last -= 1
    if language == "de" and last - first > 1 and tokens[first].text.lower() in KIN:
        first, opens = first + 1, False
    if first == last or tokens[first].text.isdigit():
        return None
    name = _possessed(sentence[tokens[first].start : tokens[last - 1].end])
    words = name.split()
    if len(name) < 2 or (len(words) == 1 and len(name) == 2 and not name.isalpha()):
        return None
    previous = tokens[first - 1].text.lower() if first else ""
    following = tokens[last].text.lower() if last < len(tokens) else ""
    is_company = len(words) <= 3 and _is_company(tokens, last)
    is_person = len(words) <= 3 and (
        is_company or _is_told(previous, following) or words[0].lower().rstrip(".") in HONORIFICS
    )
    acts = (following in TOLD | BEING and (following, language) != ("a", "en")) or (
        language in ACTED and ACTED[language].search(following) is not None
    )
    if is_company:
        return Run(name, False, True, True, False, True)
    return Run(name, opens, is_person, _is_sure(name, previous, opens, language), _is_bare(name, opens, language), acts)


def _bare(word: str) -> str:
    """`I'm` → `i`, `Sofia's` → `sofia`"""
    word = word.lower().replace("’", "'")
    return (
        word.partition("'")[0] if "'" in word[1:3] or word.endswith(("'s", "'t", "'ll", "'ve", "'re", "'d")) else word
    )


def _possessed(name: str) -> str:
    return name[:-2] if name.endswith(("'s", "’s")) else name.rstrip("'’")


def _is_told(previous: str, following: str) -> bool:
    return (following in TOLD and following not in NOT_TELLING) or previous in WITH or previous in KIN


def _is_company(tokens: list[Token], last: int) -> bool:
    """`Theo and I`, `Jonas und ich`: nothing but a person does something together with whoever writes."""
    return last + 1 < len(tokens) and (tokens[last].text.lower(), tokens[last + 1].text) in COMPANY


def _is_sure(name: str, previous: str, opens: bool, language: str) -> bool:
    """Whether the capital says that it is a name: in German, where all nouns have one, only without an article."""
    if language != "de" or _has_inner_capitals(name) or _is_place(name):
        return True
    if not opens and GERMAN_COMPOUND.search(name) and name.lower() not in KINDS_OF_PLACE:
        return True
    word = name.lower()
    if word in NO_ARTICLE or ABSTRACT.search(word):
        return False
    if opens or " " in name:
        return opens or previous not in DETERMINERS or _is_named_kind(name)
    return previous in KIN or (
        previous in BARE
        and not (word.endswith(("en", "ern", "eln")) and previous in ("mit", "von", "aus", "und", "bei"))
    )


def _is_named_kind(name: str) -> bool:
    """After an article: `im Café Merle`, `die Markthalle Neun`. Of other nouns the second may explain the first."""
    words = name.split()
    return words[0].lower() in NAMED_KINDS and all(word[0].isupper() or word.isdigit() for word in words)


def _is_bare(name: str, opens: bool, language: str) -> bool:
    is_one = " " not in name and not opens
    is_place = _is_place(name) or (GERMAN_COMPOUND.search(name) and name.lower() not in KINDS_OF_PLACE)
    return language == "de" and is_one and not _has_inner_capitals(name) and not is_place


def _has_inner_capitals(name: str) -> bool:
    """`PostgreSQL`, `SXSW`, but not `CSS-Datei`"""
    return any(sum(map(str.isupper, word)) > 1 for word in name.split() if "-" not in word)


def _is_place(name: str) -> bool:
    """`Clara-Zetkin-Park`, `Schillerstraße`"""
    return _is_whole(name) and GERMAN_PLACE.search(name) is not None
