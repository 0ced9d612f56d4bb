"""Read the fields at the beginning of a record such as a ticket or an incident log: its state, and the people in it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINES_MAX = 40  # lines of a text, from its beginning, that are searched for fields
FIELDS_MIN = 3  # fields of a record, unless all of them are known
KNOWN_MIN = 2  # fields of a record whose labels are in KNOWN
WORDS_MAX = 5  # words of a value; a longer value is a sentence
FIELD = re.compile(
    r"[ \t]{0,3}(?:[-*+] )?\*{0,2}(?P<label>[^\W\d_][^\W\d_ /-]*(?:[ /-][^\W\d_ /-]+){0,3})\*{0,2}"
    r"[ \u00a0]?[:：]\*{0,2}[ \t]*(?P<value>\S[^\n]{0,200})$"
)
HEADING = re.compile(r"\s*(?:#|={2,}|$)")
SEPARATOR = re.compile(r"[,;/&+、，；]| (?:and|und|et|y|e|og|en) ")
VERSION = re.compile(r"(?<=\S) v?\d+(?:\.\w+)*$")
BRACKETS = re.compile(r"\([^()]{0,60}\)")
SMALL = frozenset(
    {"de", "da", "do", "dos", "das", "del", "della", "di", "du", "van", "von", "der", "den", "la", "le", "al"}
)


def labels(text: str) -> frozenset[str]:
    """Return the labels of a list with commas between them."""
    return frozenset(" ".join(label.split()) for label in text.split(","))


PEOPLE = labels(
    """
    author, authors, reporter, reported by, assigned to, assignee, owner, contact, lead, decider, deciders, approver,
    approved by, opened by, requester, requested by, raised by, reviewer, reviewers, engineer, technician, agent,
    autor, autorin, verantwortlich, bearbeiter, bearbeiterin, gemeldet von, ansprechpartner, ansprechpartnerin,
    zugewiesen an, auteur, autrice, responsable, signalé par, assigné à, demandeur, autora, asignado a, reportado por,
    solicitante, responsável, atribuído a, 担当, 担当者, 报告人, 负责人, 处理人
    """
)
PARTIES = labels(
    """
    customer, client, project, product, company, account, system, service, kunde, kundin, projekt, firma, produkt,
    projet, produit, société, cliente, proyecto, producto, empresa, projeto, produto, 顧客, 客户, 项目
    """
)
STATES = labels(
    """
    ticket, id, number, case, issue, incident, status, state, priority, severity, impact, urgency, type, category,
    component, version, environment, date, opened, closed, created, updated, resolved, reported, due, start, started,
    end, ended, duration, datum, stand, priorität, dringlichkeit, art, eröffnet, geschlossen, erstellt, statut,
    priorité, ouvert, fermé, créé, estado, prioridad, prioridade, fecha, data, abierto, cerrado, aberto, fechado, 状态,
    优先级, 状態
    """
)
KNOWN = PEOPLE | PARTIES | STATES


class Record(NamedTuple):
    """The fields of a record: the people and the parties (customers, products, projects, …) that it names.

    `lines` are the indexes of all lines with a field, and `dropped` those of the lines with a known label and a short
    value, which have no text worth keeping.
    """

    people: tuple[str, ...]
    parties: tuple[str, ...]
    lines: frozenset[int]
    dropped: frozenset[int]


NO_RECORD = Record((), (), frozenset(), frozenset())


def record_of(lines: Sequence[str]) -> Record:
    """Return the fields at the beginning of a text, after any headings; NO_RECORD for a text that is not a record."""
    found = fields_of(lines)
    known = {at: label for at, (label, _) in found.items() if label in KNOWN}
    if len(known) < KNOWN_MIN or (len(found) < FIELDS_MIN and len(known) < len(found)):
        return NO_RECORD
    values = {at: value for at, (_, value) in found.items()}
    people = [name for at, label in known.items() if label in PEOPLE for name in names_in(values[at])]
    parties = [party for at, label in known.items() if label in PARTIES and is_name(party := unversioned(values[at]))]
    dropped = frozenset(at for at in known if len(values[at].split()) <= WORDS_MAX and not values[at].endswith("."))
    return Record(tuple(dict.fromkeys(people)), tuple(dict.fromkeys(parties)), frozenset(found), dropped)


def fields_of(lines: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Map the index of each line of the first run of fields to its label, in small letters, and its value."""
    found: dict[int, tuple[str, str]] = {}
    for at, line in enumerate(lines[:LINES_MAX]):
        field = FIELD.match(line)
        label = " ".join(field["label"].lower().split()) if field else ""
        if field is None or any(label == other for other, _ in found.values()):
            if found or not HEADING.match(line):
                break
            continue
        found[at] = label, field["value"].strip(" *\t")
    return found


def names_in(value: str) -> Iterator[str]:
    """Yield the names in a value that lists people."""
    for part in SEPARATOR.split(BRACKETS.sub("", value)):
        name = " ".join(part.split())
        if is_name(name):
            yield name


def unversioned(value: str) -> str:
    """Return the name of a product without its version: `Acme Desk 3.2` → `Acme Desk`."""
    return VERSION.sub("", value)


def is_name(value: str) -> bool:
    """Return whether a value looks like a name: at most WORDS_MAX words, capitalised or in SMALL, and no digits."""
    words = value.split()
    are_names = all(word[0].isupper() or not word[0].isascii() or word in SMALL for word in words if word != "&")
    return 0 < len(words) <= WORDS_MAX and are_names and words[0] not in SMALL and not any(map(str.isdigit, value))
