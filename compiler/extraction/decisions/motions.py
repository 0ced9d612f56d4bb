"""Motions and votes in minutes: what was moved and carried, adopted or voted on.

The title of such a decision is what was voted on, not the count. Formalities, such as the acceptance of former minutes,
are no decisions.
"""

import re
from typing import NamedTuple

from ..texts.language import word_set

LINE_MAX = 800  # characters of an item that may contain a motion
# Words of motions and votes, in small letters, which are searched first.
STEMS = word_set(
    """
    second carried unanim passed favo agreed approved accepted angenommen genehmigt einstimmig mehrheitlich stimme
    abstimmung adopt approuv aprobad aprueba aprovad aprova approva 通过 通過 可決 承認 同意
    """
)
CARRIED = re.compile(
    r"\b(?:second(?:s|ed)|2nd(?:ed|s)?|carried|passed|approved|adopted|unanim\w+|all in favou?r|none (?:opposed"
    r"|opposing)"
    r"|nem\.? con)\b",
    re.IGNORECASE,
)
FAILED = re.compile(
    r"\b(?:failed|defeated|lost|withdrawn|not (?:carried|passed|approved|adopted)|rejected|voted down|tabled|abgelehnt"
    r"|zurückgezogen|vertagt|nicht angenommen|keine mehrheit|rejetée?|repoussée?|rechazad[oa]|rejeitad[oa]"
    r"|respint[oa])\b"
    r"|否決|否决|不同意|没有通过|未通过",
    re.IGNORECASE,
)
FORMAL = re.compile(
    r"\b(?:accept\w*|approv\w*|adopt\w*|receiv\w*|confirm\w*|amend\w*) (?:of )?(?:the |last |previous |these )*"
    r"(?:\w+ ){0,2}(?:minutes|agenda|reports?|apologies)\b|\bminutes\b.{0,60}\b(?:accept|approv|adopt|pass|read"
    r"|confirm)"
    r"|\bagenda\b.{0,30}\b(?:approv|adopt|accept)"
    r"|\badjourn|\b(?:close|end) (?:of )?the meeting|\bquorum|\bprotokoll|tagesordnung|entlastung|beschlussfähig"
    r"|niederschrift"
    r"|\b(?:procès-verbal|compte[- ]rendu|ordre du jour|rapport moral|quitus|acta|orden del día|actas|ata|ordem do dia"
    r"|verbale|ordine del giorno)\b|議事録|会议纪要|议程",
    re.IGNORECASE,
)
MOVER = r"(?:[A-Z][\w.]*|[Cc]ommittee|[Bb]oard|[Cc]hair)"
MOVED = re.compile(
    rf"(?:^|(?<=[\s(]))(?:{MOVER} (?:moves?|moved|motioned|proposes?|proposed)(?: and \w+ seconded)?|I move"
    rf"|(?:it was )?[Mm]oved"
    r"|(?:A )?[Mm]otion(?: (?:was )?made)?)"
    r"(?: by [^.;:]{2,50}?(?: and seconded by [^.;:]{2,40}?)?)?,?(?: seconded by [^.;:]{2,40}?)?,?"
    r" ?(?::|that|to|for|(?=the\b|we\b|a\b|an\b))(?: we)? +(?=\S)",
)
# The end of what was moved.
MOVED_END = re.compile(
    r"[,;.]? *[(–—-]* *(?:\b(?:second(?:s|ed)\b|2nd|carried|passed|approved|adopted|all in favou?r|unanimous|motion\b)"
    r"|[A-Z][\w.]*(?: [A-Z][\w.]*)? (?:seconds|seconded|2nd)|(?:was |is )?(?:carried|passed|approved|adopted)\b)",
)
AGREED_TO = re.compile(
    r"[,;.–—-] *(?:this|it|which|and this) (?:was|is) (?:unanimously )?(?:agreed|approved|accepted|carried)\b"
)
ASKED = re.compile(
    r"^.{0,160}?\b(?:ask(?:ed|s|ing)?|request(?:ed|s)?|propos(?:ed|es)|suggest(?:ed|s))(?: \w+)?"
    r" (?:if|whether|that|to)\b (?:we |they )?(?:were |was |are )?(?:willing to |able to |could |would |should )?(?=\S)"
)
# `Pachterhöhung einstimmig angenommen`, `se aprueba por unanimidad`: what was voted on stands before or after it.
VOTED = re.compile(
    r"(?:\b(?:wird|wurde|werden|wurden|ist|sind|hat)? ?(?:mit (?:großer )?mehrheit|mit \d+[^.;]{0,60}?|einstimmig"
    r"|mehrheitlich"
    r"|ohne gegenstimmen?|bei \d+ enthaltung(?:en)?) (?:angenommen|beschlossen|genehmigt|verabschiedet|zugestimmt"
    r"|dafür)\b"
    r"|\b(?:(?:(?:est|sont|a été|ont été) )?(?:adopté|approuvé|voté|validé)e?s?|(?:adopte|approuve|vote"
    r"|valide)(?:nt)?) à (?:l['’]unanimité|la majorité)"
    r"|\b(?:(?:queda|se|es|fue|ha sido) )?(?:aprueba|aprueban|aprobó|aprobad[oa]s?) por (?:unanimidad|mayoría)"
    r"|\b(?:(?:foi|fica) )?(?:aprovad[oa]s?|aprovam?|aprovaram) por (?:unanimidade|maioria)"
    r"|\b(?:(?:è|viene) )?(?:approvat[oa]|approva(?:no)?) all['’]unanimità|\b(?:(?:è"
    r"|viene) )?approvat[oa] a maggioranza"
    r"|\b(?:carried|passed|approved|adopted|agreed) unanimously|\bunanimously (?:agreed|approved|passed|adopted"
    r"|carried|voted)"
    r"|\b(?:全票|一致)(?:通过|同意)(?:了)?|(?:全会一致|満場一致|賛成多数)で(?:可決|承認|決定|了承))",
    re.IGNORECASE,
)
# A motion in German that was carried, with its noun.
ADOPTED = re.compile(
    r"\b(?:\w*antrag|\w*erhöhung|\w*senkung|\w*vorschlag|\w*änderung|satzung|haushalt|budget|etat|\w+plan)\b"
    r" (?:[^.,;:]{0,60} )?(?:angenommen|genehmigt)\b(?!,? (?:dass|es)\b)",
    re.IGNORECASE,
)
SUPPOSED = re.compile(
    r"\W*(?:if|when|once|unless|whether|wenn|falls|sobald|ob|si|quand|lorsqu|cuando|quando|se(?! (?:aprueb|aprob"
    r"|acuerd|decid|vot))|caso|もし|如果"
    r"|若)\b",
    re.IGNORECASE,
)
# A count of votes, which says nothing of its subject.
COUNTED = re.compile(
    r"^(?:[^.:;]{0,40}\b)?(?:abstimmung|ergebnis|vote|votes|voted|voting|résultat du vote|votación|votazione|votação"
    r"|投票|表决)"
    r"\b[^.:]{0,60}[:：]? ?\W{0,3}\d{1,4}\W{0,2} ?(?:ja|yes|in favou?r|for\b|dafür|stimmen|pour|oui|a favor|sí|sim"
    r"|favorevoli"
    r"|票|人)|^motion (?:carried|passed|approved)(?: unanimously)?[.!]?$|^(?:carried|passed|approved) unanimously[.!]?$"
    r"|^einstimmig (?:angenommen|genehmigt|beschlossen)[.!]?$",
    re.IGNORECASE,
)
ON = re.compile(
    r"\b(?:abstimmung über|vote on|voted on|vote sur|votación sobre|über) (?P<what>[^.:;]{4,120})", re.IGNORECASE
)
SUBJECT_MIN = 6  # characters of what was voted on, before the words of the vote


class Motion(NamedTuple):
    """A motion that an item says was carried."""

    what: str
    """The text that was carried, for the title."""
    at: int
    """The index of the sentence that says it."""


def may_move(text: str) -> bool:
    """Return whether a text may contain a motion or a vote. This is a fast check without false negatives."""
    return any(map(text.casefold().__contains__, STEMS))


def find_motion(sentences: list[str], above: str) -> Motion | None:
    """Return what the sentences of a line say was carried, or None. `above` is the line or heading above it."""
    text = " ".join(sentences)
    if len(text) > LINE_MAX or not may_move(text) or FAILED.search(text) or FORMAL.search(text):
        return None
    for at, sentence in enumerate(sentences):
        if "?" in sentence or SUPPOSED.match(sentence):
            continue
        if (moved := MOVED.search(sentence)) and CARRIED.search(
            " ".join([sentence[moved.end() :], *sentences[at + 1 :]])
        ):
            end = MOVED_END.search(sentence, moved.end() + 3)
            return Motion(sentence[moved.end() : end.start() if end else len(sentence)], at)
        if agreed := AGREED_TO.search(sentence):
            return Motion(ASKED.sub("", sentence[: agreed.start()]), at)
        if ADOPTED.search(sentence):
            return Motion(sentence, at)
        if voted := VOTED.search(sentence):
            return _voted(sentence, voted, sentences[at - 1] if at else above, at)
        if COUNTED.match(sentence):
            return _counted(sentence, sentences[at - 1] if at else above, at)
    return None


def _voted(sentence: str, voted: re.Match[str], above: str, at: int) -> Motion | None:
    """Return what was voted on: the whole sentence if it says more than the vote, or else what stands above it."""
    if ":" in sentence[voted.end() : -1]:
        return Motion(sentence[sentence.index(":", voted.end()) + 1 :], at)
    rest = (sentence[: voted.start()] + sentence[voted.end() :]).strip(" ,.;:!()")
    if len(rest) >= SUBJECT_MIN:
        return Motion(sentence, at)
    return _counted(sentence, above, at)


def is_count(sentence: str) -> bool:
    """Return whether a sentence is only the count of a vote."""
    return COUNTED.match(sentence) is not None


def _counted(sentence: str, above: str, at: int) -> Motion | None:
    on = ON.search(sentence) or ON.search(above)
    what = on["what"] if on else above
    return None if FORMAL.search(what) or len(what) < SUBJECT_MIN else Motion(what, at)
