"""Detecting the language of a text, and the stop words of each language."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import chain


def word_set(text: str) -> frozenset[str]:
    """Return the set of the words of a text."""
    return frozenset(text.split())


STOPWORDS: dict[str, frozenset[str]] = {
    code: word_set(words)
    for code, words in {
        "en": """
            a about above after again all almost also although always am an and another any anyone anything
            are around as at away back be because been before being below best better between both but by can
            cannot could did do does doing done don't down during each either else enough even ever every
            everybody everyone everything few finally first for from full further get got had has have having
            he hello her here hers herself hi him himself his how however i i'd i'll i'm i've if in instead
            into is isn't it it's its itself just last later least less let let's like lots made make many
            maybe me mine more moreover most much my myself near never new next no nobody none nor not nothing
            now of off often ok okay old on once one ones only onto or other others our ours out over own
            perhaps please quite rather really s same see several shall she should since so some somebody
            someone something sometimes soon still such than thanks that that's the their theirs them then
            there there's therefore these they thing things this those though three through thus to today
            together tomorrow tonight too took two under until up upon us use used using usually very was we
            we'll we're we've well went were what whatever when whenever where whether which while who whole
            whom whose why will with within without won't would yes yesterday yet you you'll you're your yours
            called met visited saw told asked booked bought drove flew walked talked tried worked ran ate read
            heard found left arrived landed came rewrote fixed moved started finished wrote planned picked
            joined note tip warning example dear hey thank sorry oh ah aw wow haha hehe lol yeah yep yup nope
            congrats congratulations bye goodbye cheers welcome gosh omg thx totally absolutely definitely awesome
            amazing exactly hmm ugh yay guys btw
        """,
        "de": """
            aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist
            da dabei damit danach dann darf darum das dass davon dazu dein deine dem den denn der des deshalb
            die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines
            einige endlich er erst es etwas euch euer für gegen gestern gibt ganz habe haben hat hatte hatten
            hier hinter heute ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ist ja jede jeden jeder
            jedes jetzt kann kein keine können leider man manchmal mehr mein meine meinem meinen meiner mich
            mir mit morgen morgens muss nach nachher natürlich neben nicht nichts nie noch nun nur ob oder
            ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so später sogar sonst
            soll über um und uns unser unsere unserem unseren unter viel viele vielleicht vom von vor wann war
            waren warum was weil welche wenn wer werden wie wieder wir wird wo wollen wurde zu zum zur zuerst
            zwei zwischen abends mittags zurück abend heute
        """,
        "fr": """
            a à afin ai ainsi alors après as assez au aucun aujourd'hui aussi autre autres aux avait avant
            avec avez avoir avons beaucoup bien c'est car ce ceci cela celle celui ces cet cette chaque chez
            comme comment d dans de déjà demain depuis des donc du elle elles en encore enfin ensuite entre
            est et étaient était être eux faire fait fin hier il ils ici j j'ai je jamais jusque l la là le
            les leur leurs lui m ma mais malgré me même mes mien mon n ne ni non nos notre nous on ont ou où
            oui par parce pas pendant peu peut plus plusieurs pour pourquoi puis quand que quel quelle
            quelques qui quoi rien s sa sans se sera ses si sien soir son sont sous souvent sur t ta te tes
            toi ton toujours tous tout toute toutes très trop tu un une vers voici voilà vos votre vous y deux
            trois dimanche
        """,
        "pt": """
            a à agora ainda além alguns algum ali amanhã antes ao aos apesar aquela aquele aqui as às assim
            até cada com como contra da das de dela dele delas deles depois desde dessa desse desta deste do
            dois dos duas durante e é ela elas ele eles em enquanto então entre era essa esse esta está estava
            estamos este eu fez finalmente foi fomos hoje há isso isto já lá lhe logo mais mas me mesmo meu
            meus minha minhas muita muito na não nas nem no nos nós nossa nosso nossos num numa nunca o onde
            ontem os ou outra outro outros para pela pelo por porque pois quando que quem são se sem sempre
            ser seu seus só sobre sua suas também tem tenho ter teu toda todas todo todos tudo tua tudo um uma
            umas uns vai vamos você à voltámos comprei almocei jantámos almoçámos visitei falei
        """,
        "es": """
            a ahora al algo algunos allí antes aquí así aunque ayer bien cada casi como con cuando de del demás
            desde después donde dos durante el él ella ellos en entonces entre era es esa ese eso esta está
            estaba este esto fue ha hace hacia han hasta hay hoy la las le les lo los luego mañana más me mi
            mis mucho muy nada ni no nos nosotros nuestra nuestro nunca o otra otro para pero poco por porque
            pues que qué quien se según ser si sí siempre sin sobre son su sus también tan te tiene todo todos
            tres tu un una uno unos y ya yo
        """,
        "it": """
            a ad al alla allo ai agli anche ancora avere c'è che chi ci come con cosa così da dal dalla degli
            dei del della delle di domani dopo dove due e è ed era erano fa fino gli ha hanno ho i ieri il in
            io la le lei lo loro lui ma mai me mentre mi mia mio molto ne nel nella no noi non nostra nostro o
            oggi ogni per perché più poi prima qua quando quella quello questa questo qui se sempre senza si
            sono sua suo su sul tra tre tu tutti tutto un una uno voi
        """,
        "nl": """
            aan al als bij daar dan dat de deze die dit doch door dus een en er gisteren had heb heeft hem het
            hier hij hoe hun ik in is ja je kan maar meer met mij mijn morgen na naar niet nog nu of om omdat
            onder ons ook op over te toch toen tot u uit van vandaag veel voor waar was wat we wel werd wij
            wordt ze zich zij zijn zo zonder zou
        """,
        "ru": """
            а без бы был была были было в вам вас весь во вот все всё вы где да для до его ее если есть еще же
            за здесь и из или им их к как когда кто ли мне можно мой мы на нас не него нет но ну о об он она
            они от очень по под потом при с сегодня со так там то только тут ты у уже что чтобы это этот я
            завтра вчера
        """,
    }.items()
}

DATES = word_set(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu
    fri sat sun spring summer autumn winter easter christmas januar februar märz mai juni juli oktober dezember
    montag dienstag mittwoch donnerstag freitag samstag sonntag sonnabend frühling sommer herbst ostern
    weihnachten wochenende janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche noël pâques janeiro fevereiro março abril maio junho
    julho agosto setembro outubro novembro dezembro segunda terça quarta quinta sexta sábado domingo natal
    páscoa enero febrero marzo mayo junio julio septiembre octubre noviembre diciembre lunes martes miércoles
    jueves viernes gennaio febbraio aprile maggio giugno luglio agosto settembre ottobre dicembre lunedì martedì
    mercoledì giovedì venerdì sabato domenica am pm
    """
)

# Keys, units, formats and parts of documents, which are in every manual and are no names.
TECHNICAL = word_set(
    """
    ctrl cmd alt shift enter tab esc escape space backspace option command delete return maj entrée échap strg
    umschalt eingabe entf gb mb kb tb mo ko id ids url urls uri api apis os ui pdf pdfs hh mm yyyy-mm-dd td vat
    html css json xml yaml csv toml faq txt http https utf-8 usb cpu ram ssd tv step figure table chapter
    sms mms gps wifi wlan lan vpn ip dns tcp udp ssh sftp ftp ssl tls sdk cli gui ide sql ci cd qa pr prs kpi kpis okr
    okrs roi sla slas slo eta tbd tbc asap fyi rsvp n/a ceo cto cfo coo hr it dvd led lcd pc pcs phd vip diy atm pin
    qr gif jpg jpeg png svg mp3 mp4 zip utc gmt adr adrs rfc rfcs poc mvp
    section part page version schritt abbildung tabelle kapitel étape
    """
)

# Kinds of places and organisations, which are no names by themselves.
KINDS = word_set(
    """
    museum museu musee park parque parc market mercado marche markt cafe restaurant restaurante hotel bar pool club
    theatre theater teatro kino cinema station bahnhof gare platz plaza praca place library biblioteca bibliothek
    school hospital church kirche igreja eglise bridge ponte beach praia strand house casa haus maison tower torre
    hall garden jardim jardin garten bakery books shop store gallery airport team group project port street lake
    mount new north south west east old great saint sankt the office department university college institute chapter
    part
    """
)

EVERYWHERE = STOPWORDS["en"] | DATES | TECHNICAL


@cache
def stops_of(language: str) -> frozenset[str]:
    """Return the words that are no names in texts of the language."""
    return STOPWORDS.get(language, frozenset()) | EVERYWHERE


KANA = re.compile("[\u3041-\u30fa\u30fc-\u30ff]")
HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
THAI = re.compile("[\u0e01-\u0e5b]")
HANGUL = re.compile("[\uac00-\ud7af]")
SPACELESS = frozenset({"ja", "zh", "th", "ko"})
ELIDED = re.compile("(?<=^[ldjnstmc])['’].*")
LANGUAGES_OF = {
    word: tuple(code for code, stops in STOPWORDS.items() if word in stops)
    for word in frozenset().union(*STOPWORDS.values())
}
ADDRESS = re.compile(r"(?:https?:/|\]\(\.?)/[^\s)]{1,500}")
SAMPLE = 400  # words by which a language is detected; ten times as many characters for scripts


def language_of(text: str, words: Iterable[str]) -> str:
    """Return the ISO 639-1 code of the language, by script or else by stop words.

    In a tie with English, or without any stop word, it is English.
    """
    return _by_script(text[: 10 * SAMPLE]) or _by_words(words)


def _by_script(text: str) -> str | None:
    """Return the language of a text whose script shows it, or None."""
    if text.isascii():
        return None
    text = ADDRESS.sub("", text)
    for code, letters, share in (("ja", KANA, 8), ("zh", HAN, 6), ("th", THAI, 6), ("ko", HANGUL, 6)):
        if share * len(letters.findall(text)) > len(text):
            return code
    return None


def is_clear(language: str, words: Iterable[str]) -> bool:
    """Return whether a text has more stop words of this language than of any other. A list of nouns has none."""
    counts = _counts(words)
    return counts[language] > max(counts[code] for code in STOPWORDS if code != language)


def _by_words(words: Iterable[str]) -> str:
    counts = _counts(words)
    return max(STOPWORDS, key=lambda code: (counts[code], code == "en"))


def _counts(words: Iterable[str]) -> Counter[str]:
    said = (word if word.isalpha() else ELIDED.sub("", word) for word in words)
    return Counter(chain.from_iterable(LANGUAGES_OF[word] for word in said if word in LANGUAGES_OF))
