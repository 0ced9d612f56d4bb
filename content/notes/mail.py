"""Read mails that are stored as texts: the sender, the subject, and the lines that the sender wrote.

The header is that of RFC 5322. Answered and forwarded mails are recognised by what common programs put before them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

FIELDS_MAX = 40  # lines of a header
WRAPPED_MAX = 100  # characters of a line that programs have wrapped
# Names of the header's fields, in the languages in which programs write them.
SENDER = ("from", "von", "de", "da", "发件人", "差出人")
RECIPIENT = ("to", "cc", "bcc", "an", "kopie", "à", "a", "para", "收件人", "抄送", "宛先")
SUBJECT = ("subject", "betreff", "objet", "asunto", "assunto", "oggetto", "主题", "件名")
DATE = ("date", "sent", "datum", "gesendet", "envoyé", "fecha", "enviado", "data", "日期", "发送时间", "日時")
FIELD = re.compile(r"\*{0,2}(?P<name>[^\W\d_][\w-]{0,30})\*{0,2}[ \u00a0]?[:：]\*{0,2}[ \t]*(?P<value>[^\n]{0,1000})$")
CONTINUED = re.compile(r"[ \t]+\S")
NAME = r"[^\W\d_][^\"<>@,;:()\[\]\n]"
# `Ann Lee <a@b.org>` or `"Lee, Ann (Sales)" <a@b.org>`
PERSON = re.compile(
    rf"\s*\"?(?P<name>{NAME}{{1,59}}?)(?:,\s*(?P<given>{NAME}{{0,59}}?))?\s*+(?:\([^()@\n]{{0,60}}\))?\"?\s*+"
    r"[<\[(]\s*(?:mailto:)?[^\s<>@]{1,64}@"
)
# What a comma separates from a name, and is no given name.
SUFFIX = re.compile(r"(?:Ph\.?D|M\.?[DA]|MBA|CPA|Esq|Jr|Sr|I{2,3}|Inc|Ltd|LLC|GmbH|AG)\.?", re.IGNORECASE)
ANSWER = re.compile(
    r"\s*(?:(?:re|fwd?|aw|wg|antw|tr|rif|rv|enc|sv|vs|回复|答复|转发)\s?(?:\[\d{1,3}\]|\(\d{1,3}\))?[:：]\s*)+",
    re.IGNORECASE,
)
QUOTED = re.compile(r"[ \t]{0,3}>")
INTRODUCED = re.compile(
    r"(?:On|Am|Le|El|Em|Il|Op) [^\n]{6,200} (?:wrote|schrieb|écrit|escribió|escreveu|ha scritto|schreef)[^\n:]{0,100}:"
    r"\s*$"
)
RULE = re.compile(r"\s*(?:-{3,}|_{10,})(?: ?[^\W\d_][^\n]{0,60}? ?-{3,})?\s*$")  # `---- Forwarded message ----`
SIGNATURE = re.compile(r"--[ \t]?$")


class Mail(NamedTuple):
    """A mail: the name of its sender, "" if the header has an address only, its subject, and the lines of its
    sender."""

    sender: str
    subject: str
    said: list[str]


def mail_of(lines: Sequence[str]) -> Mail | None:
    """Read a mail from the lines of a text; return None if the text is not a mail."""
    start = next((at for at, line in enumerate(lines[:FIELDS_MAX]) if line.strip()), 0)
    header, end = header_of(lines, start)
    if not header:
        return None
    sender = sender_of(next((header[name] for name in SENDER if name in header), ""))
    subject = next((header[name] for name in SUBJECT if name in header), "")
    return Mail(sender, ANSWER.sub("", subject, count=1).strip(), own_lines(lines, end))


def sender_of(field: str) -> str:
    """Return the name in the sender of a mail, also if the family name comes first; "" if there is only an address."""
    found = PERSON.match(field)
    if found is None:
        return ""
    name, given = found["name"].strip(), (found["given"] or "").strip()
    return f"{given} {name}" if given and not SUFFIX.fullmatch(given) else name


def header_of(lines: Sequence[str], start: int) -> tuple[dict[str, str], int]:
    """Return the fields of a header, by their names in small letters, and the index of the line after it.

    If there is no header, return {} and `start`. A header has a sender, and two of recipient, subject and date.
    """
    found: dict[str, str] = {}
    end = start
    for line in lines[start : start + FIELDS_MAX]:
        if field := FIELD.match(line):
            found.setdefault(field["name"].lower(), field["value"].strip())
        elif not found or not CONTINUED.match(line):
            break
        end += 1
    others = sum(not found.keys().isdisjoint(names) for names in (RECIPIENT, SUBJECT, DATE))
    is_header = not found.keys().isdisjoint(SENDER) and others > 1
    return (found, end) if is_header else ({}, start)


def own_lines(lines: Sequence[str], start: int) -> list[str]:
    """Return the lines that the sender wrote.

    The signature is left out, and so are answered and forwarded mails, which are sources of their own.
    """
    found: list[str] = []
    own_from = start
    for at in range(start, len(lines)):
        line = lines[at]
        if SIGNATURE.match(line) or (RULE.match(line) and any(map(names_sender, lines[at + 1 : at + 3]))):
            break
        if is_introduced_in_two_lines(lines, at):
            own_from = at + 2
        if at >= own_from and not QUOTED.match(line) and not INTRODUCED.match(line):
            found.append(line)
    return found


def is_introduced_in_two_lines(lines: Sequence[str], at: int) -> bool:
    """Return whether this line and the next one introduce an answered mail, which is quoted below: programs wrap long
    introductions."""
    if len(lines[at]) > WRAPPED_MAX or not INTRODUCED.match(" ".join(lines[at : at + 2])):
        return False
    below = (line for line in lines[at + 2 : at + 5] if line.strip())
    return QUOTED.match(next(below, "")) is not None


def names_sender(line: str) -> bool:
    """Return whether the line is a header field with the sender of a mail."""
    field = FIELD.match(line)
    return field is not None and field["name"].lower() in SENDER
