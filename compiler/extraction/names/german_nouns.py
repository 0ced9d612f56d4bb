"""German nouns, all of which have capitals: rules to tell names from ordinary nouns."""

import re
from collections.abc import Sequence

from ..texts.language import word_set

KIN = word_set(
    "schwester bruder tochter sohn cousine cousin freundin freund kollegin kollege nachbarin nachbar nichte neffe"
)
NAMED_KINDS = word_set(
    """
    café cafe restaurant hotel gasthaus gasthof pension bar kneipe kino theater museum galerie buchhandlung bäckerei
    konditorei eisdiele pizzeria markthalle brauerei weingut hof praxis schule grundschule gymnasium bahnhof villa haus
    schloss burg kloster kirche sankt park strandbad freibad tram linie bus stadt kreis landkreis bezirk
    """
)
DETERMINERS = word_set(
    """
    der die das den dem des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine sein
    seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere unseren unserem unserer euer eure kein
    keine keinen keinem keiner dieser diese dieses diesen diesem jeder jede jedes jeden jedem welche welcher
    welches alle alles viel viele vielen mehr wenig etwas zwei drei vier fünf sechs sieben acht neun zehn zwölf
    paar im am beim zum zur vom ins ans aufs
    """
)
# Things that have a sender or an author: `Anruf von Svenja`.
SENT = word_set(
    """
    anruf brief mail e-mail email nachricht besuch post paket karte postkarte foto fotos bild bilder geschenk antwort
    anfrage angebot rechnung bericht vortrag konzert buch film vorschlag idee gruß grüße hilfe rat tipp einladung zusage
    absage rezept kuchen zettel kopie entwurf text artikel roman lied
    """
)
TITLES = word_set("frau herr herrn hr fr dr prof oma opa tante onkel familie firma")
ABSTRACT = re.compile(
    r"(?:ung|heit|keit|schaft|tion|tät|nis|ismus|ling|chen|lein|ungen|eien|zeit|tag|abend|morgen|stunde)n?$"
)
# Kinds after which a name or a number stands: establishments, parts of land and buildings, organisations.
KIND = re.compile(
    r"(?:erei|hof|haus|markt|bank|werk|verlag|verein|schule|laden|studio|agentur|firma|stiftung|gemeinde|stadt|dorf|insel"
    r"|platz|parzelle|gleis|raum|zimmer|halle|hütte|siedlung|familie|klinik|praxis|kanzlei|büro|gruppe|klub|club|verband"
    r"|gesellschaft|genossenschaft|universität|hochschule|akademie|institut|apotheke|galerie|mühle|werft|reederei"
    r"|handel|händler|werken?|wehr|kapelle|orchester|chor|amt|zentrum|verwaltung|zeitung|heim|pfarrei|betrieb|dienst"
    r"|service|versicherung|kasse|versand)$"
)
# Kinds of firms before a name, which people leave out: `Werk Lindach`, `Zimmerei Amthor`, `Gasthaus Krone`.
KIND_OF_FIRM = re.compile(
    r"^(?:Werk|Büro|Praxis|Gasthaus|Gasthof|Wirtshaus)$"
    r"|^[A-ZÄÖÜ]\w*(?:erei|[Hh]andlung|[Vv]erlag|[Aa]gentur|[Kk]anzlei|[Ww]erft|[Vv]ersand)$"
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
# Family names that end like plurals: `mit Petersen`, `bei Hansen`.
FAMILY_NAME = re.compile(r"(?:ersen|(?<!li)nsen|ielsen)$")
PLACE = re.compile(
    r"-(?:Park|Platz|Straße|Strasse|Allee|Weg|Brücke|Ring|Ufer|Schule|Gymnasium|Haus|Kirche|Museum|See|Halle)$"
)
# Compounds that may be names of places; KINDS_OF_PLACE has those that are ordinary nouns.
COMPOUND = re.compile(
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


def is_sure(name: str, previous: str, *, opens: bool) -> bool:
    """Return whether nouns count as a name.

    A single noun inside a sentence counts after a word of kinship or, without an article, after some prepositions.
    Several nouns count without an article, or if they are a kind with its name. Nouns at the beginning of a sentence
    count. Words of NO_ARTICLE and abstract nouns never count, but names of places and words with several capitals
    always do.
    """
    if has_inner_capitals(name) or _is_place(name):
        return True
    if not opens and _is_place_compound(name):
        return True
    word = name.lower()
    if word in NO_ARTICLE or ABSTRACT.search(word):
        return False
    if opens or " " in name:
        return opens or previous not in DETERMINERS or _is_named_kind(name)
    return previous in KIN or (
        previous in BARE
        and not (
            word.endswith(("en", "ern", "eln"))
            and previous in ("mit", "von", "aus", "und", "bei")
            and not FAMILY_NAME.search(word)
        )
    )


def _is_named_kind(name: str) -> bool:
    """Return whether nouns after an article are a kind with its name or number: `im Café Merle`, `die Parzelle 48`.

    In other pairs of nouns, the second may only explain the first.
    """
    kind, *words = name.split()
    if not all(word[0].isupper() or word.isdigit() for word in words):
        return False
    if kind.lower() in NAMED_KINDS:
        return True
    is_named = words[0].isdigit() or not (words[0].lower() in NO_ARTICLE or ABSTRACT.search(words[0].lower()))
    return is_named and KIND.search(kind.lower()) is not None and kind.lower() not in NO_ARTICLE


def explained_noun(name: str, is_sure: bool) -> str | None:
    """Return the noun after another noun, which may be its name: `Leihlokal` in `die Plattform Leihlokal`, or None."""
    kind, _, noun = name.partition(" ")
    word = noun.lower()
    if is_sure or not word.isalpha() or word in NO_ARTICLE or kind.lower() in NO_ARTICLE or ABSTRACT.search(word):
        return None
    return noun if noun[0].isupper() else None


def is_particle(before: Sequence[str], particle: str, following: Sequence[str]) -> bool:
    """Return whether a small word is part of a name: `Ursula von der Leyen`, but not `Frau Huber von der Post`."""
    word = before[-1].lower()
    if particle not in ("von", "van", "de", "zu"):
        return particle not in DETERMINERS
    if len(before) == 1 and word in ("frau", "herr", "herrn", "hr", "fr", "dr", "prof"):
        return True
    next_noun = next((word.lower() for word in following if word[0].isupper()), "")
    is_sent = word in SENT or ABSTRACT.search(word) is not None or KIND.search(word) is not None
    return not (is_sent or before[0].lower() in TITLES or next_noun in TITLES or KIND.search(next_noun))


def is_bare(name: str, *, opens: bool) -> bool:
    """Return whether it is a single noun inside a sentence that may be a name, but is not surely one."""
    is_one = " " not in name and not opens
    return is_one and not (
        FAMILY_NAME.search(name) or has_inner_capitals(name) or _is_place(name) or _is_place_compound(name)
    )


def is_whole(word: str) -> bool:
    """Return whether the word is a complete name with hyphens: `Clara-Zetkin-Park`."""
    return word.count("-") > 1 and sum(map(str.isupper, word)) > 2


def _is_place_compound(name: str) -> bool:
    """Return whether it is a name of a place such as `Schlossberg`, but not an ordinary noun such as `Spielplatz`."""
    return COMPOUND.search(name) is not None and name.lower() not in KINDS_OF_PLACE


def has_inner_capitals(name: str) -> bool:
    """Return whether a word has several capitals, in any language: `PostgreSQL` and `SXSW`, but not `CSS-Datei`."""
    return not name[1:].islower() and any(sum(map(str.isupper, word)) > 1 for word in name.split() if "-" not in word)


def _is_place(name: str) -> bool:
    """Return whether it is a name of a place with hyphens: `Clara-Zetkin-Park`."""
    return is_whole(name) and PLACE.search(name) is not None
