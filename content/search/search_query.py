"""Parse the query language of search.

    words              rank the pages that contain them; none of the words is required
    "two words"        a phrase that a page must contain; its words count for the ranking too
    -word  -"a phrase" a word or a phrase that a page must not contain
    type:topic         pages of this type; repeated: of any of the types. -type:topic: pages of other types
    tag:food           pages with this tag, in any case; repeated: with all of the tags. -tag:food: pages without it
    status:archived    `active` (the default), `archived`, or `any` for both
    updated:2026-01    pages changed in that year, month or day (UTC); >2026-01: after its end, >=2026-01: from its
                       start on, <2026-01: before its start, <=2026-01: until its end; repeated: all must hold
    in:title           search the words in names only
    owner:slug         search in the wiki of that owner; the last one counts

A value with spaces is quoted: tag:"two words". Only double quotes, straight or curly, quote, and only at the beginning
of a word. Keys and values, except tags, may be in capitals, and full-width signs count as signs.

Every text is a valid query. Everything that is not described above is read as words: an unknown key (`std::vector`,
`http://…`), an impossible value (`type:bogus`, `updated:May`), an unclosed quote, a lone `-`, `--x`. Only the first
10,000 characters are read, and after 32 phrases, exclusions and operators everything is words.

In a question of more than twelve words, quotes and minus signs have no effect. A minus at the beginning of a query is
part of its first word if that looks like a switch of a command. For other words with a minus, `resolvers.search.search`
decides by the pages that it finds.
"""

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ..limits import UNSTORABLE
from ..names import is_slug
from ..normalization import fold
from ..templates import TEMPLATES
from .words import words

QUERY_MAX = 10_000
DEMANDS_MAX = 32  # phrases, exclusions and operators; each needs a search of its own
PROSE_WORDS = 12  # words; a longer query is a sentence

SIGNS = str.maketrans("：－＞＜＝＂“”„‟", ":-><=" + '"' * 5)
# A quoted value ends at the next quote, any other value at the next space.
TERM = re.compile(
    r'(?:(?<!\S)(?P<minus>-)(?!-))?(?:(?P<key>\w{1,10}):(?!:))?(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]\S*))|\S+'
)
UPDATED = re.compile(r"([<>]=?|)(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
OPTION = frozenset({"option", "options", "switch", "switches", "flag", "flags", "argument", "parameter"})
STATUSES = {"active": ("active",), "archived": ("archived",), "any": ("active", "archived")}

FieldValues = list[tuple[str, Any]]  # the fields of the query that a term sets, and a value for each


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed query. Empty fields restrict nothing, except that no status means active pages.

    `words` is the free text, with the words of the phrases. Pages must have been changed at a moment for which
    `updated_after` <= moment < `updated_before`.
    """

    words: str = ""
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    excluded_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    excluded_tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    title_only: bool = False
    owner: str | None = None


def understand(text: str) -> SearchQuery:
    """Parse a query, and read signs as text in sentences and in switches such as `-Gm compiler option`."""
    query = parse(text)
    if not query.words or not (query.phrases or query.excluded):
        return query
    if len(words(query.words)) > PROSE_WORDS:
        return _read(text, in_prose=True)
    text = text.lstrip()
    is_first = query.excluded and text.startswith(f"-{query.excluded[0]}")
    return parse(text[1:]) if is_first and _is_switch(query.excluded[0], text) else query


def _is_switch(word: str, text: str) -> bool:
    """Return whether a word after a minus is a switch: `-Gm`, `-NXCOMPAT`, `-Wp64`, or any word if the query speaks of
    options.

    The word in `-decaf` is not a switch but an exclusion.
    """
    is_written_so = len(word) <= 2 or word.isupper() or not word.isalpha()
    return word.isascii() and (is_written_so or not OPTION.isdisjoint(words(text)))


def without_exclusions(text: str) -> str:
    """Return the query with each excluded word as a search word: `ls -Recurse` → `ls Recurse`.

    Excluded phrases stay excluded.
    """
    parts, at = [], 0
    for term in TERM.finditer(UNSTORABLE.sub(" ", text[:QUERY_MAX]).translate(SIGNS)):
        if term["minus"] and term["bare"] and _read_term(term, in_prose=False)[0][0] == "excluded":
            parts.append(text[at : term.start()])
            at = term.start() + 1
    return "".join([*parts, text[at:]])


def without_quotes(text: str) -> str:
    """Return the query without the quotes of required phrases: `who sang "Winter Light"` → `who sang Winter Light`.

    Excluded phrases and the values of operators stay quoted.
    """
    parts, at = [], 0
    for term in TERM.finditer(UNSTORABLE.sub(" ", text[:QUERY_MAX]).translate(SIGNS)):
        if term["quoted"] and _read_term(term, in_prose=False)[0][0] == "phrases":
            parts += [text[at : term.start()], text[term.start() + 1 : term.end() - 1]]
            at = term.end()
    return "".join([*parts, text[at:]])


def parse(text: str) -> SearchQuery:
    """Parse a query. Every text is a valid query."""
    return _read(text, in_prose=False)


def _read(text: str, *, in_prose: bool) -> SearchQuery:
    values: defaultdict[str, list[Any]] = defaultdict(list)
    demands = 0
    for term in TERM.finditer(UNSTORABLE.sub(" ", text[:QUERY_MAX]).translate(SIGNS)):
        for field, value in _read_term(term, in_prose) if demands < DEMANDS_MAX else [("words", term[0])]:
            values[field].append(value)
            demands += field != "words"
    return SearchQuery(
        words=" ".join(values["words"]),
        phrases=_unique(values["phrases"]),
        excluded=_unique(values["excluded"]),
        types=_unique(values["types"]),
        excluded_types=_unique(values["excluded_types"]),
        tags=_unique(values["tags"]),
        excluded_tags=_unique(values["excluded_tags"]),
        statuses=_unique(values["statuses"]),
        updated_after=max(values["updated_after"], default=None),
        updated_before=min(values["updated_before"], default=None),
        title_only=bool(values["title_only"]),
        owner=values["owner"][-1] if values["owner"] else None,
    )


def _unique(values: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _read_term(term: re.Match[str], in_prose: bool) -> FieldValues:
    """Return the fields that a term of the query sets. In prose, quotes and minus signs have no effect."""
    quoted, negated = term["quoted"] is not None, term["minus"] is not None
    value = " ".join((term["quoted"] or term["bare"] or "").split())
    if term["key"]:
        operator = (EXCLUDING if negated else OPERATORS).get(fold(term["key"]))
        if found := operator(value) if operator else []:
            return found
        value = f"{term['key']}:{value}"
    if in_prose or not words(value):
        return [("words", term[0])]
    if negated:
        return [("excluded", value)]
    return [("phrases", value), ("words", value)] if quoted and not term["key"] else [("words", term[0])]


def _type(value: str) -> FieldValues:
    return [("types", fold(value))] if fold(value) in TEMPLATES else []


def _tag(value: str) -> FieldValues:
    return [("tags", value)] if value else []


def _status(value: str) -> FieldValues:
    return [("statuses", status) for status in STATUSES.get(fold(value), ())]


def _updated(value: str) -> FieldValues:
    if not (match := UPDATED.fullmatch(value)):
        return []
    sign, *day = match.groups()
    try:
        start, end = _period(*day)
    except (ValueError, OverflowError):  # no such day, or none after it
        return []
    after, before = ("updated_after", end if sign == ">" else start), ("updated_before", start if sign == "<" else end)
    return {">": [after], ">=": [after], "<": [before], "<=": [before]}.get(sign, [after, before])


def _period(year: str, month: str | None, day: str | None) -> tuple[datetime, datetime]:
    """Return the first moment of a year, month or day, and the first moment after it."""
    start = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    if day:
        return start, start + timedelta(days=1)
    return start, (start + timedelta(days=31)).replace(day=1) if month else start.replace(year=start.year + 1)


def _in(value: str) -> FieldValues:
    return [("title_only", True)] if fold(value) == "title" else []


def _owner(value: str) -> FieldValues:
    return [("owner", fold(value))] if is_slug(fold(value)) else []


OPERATORS: dict[str, Callable[[str], FieldValues]] = {
    "type": _type,
    "tag": _tag,
    "status": _status,
    "updated": _updated,
    "in": _in,
    "owner": _owner,
}
EXCLUDING: dict[str, Callable[[str], FieldValues]] = {
    "type": lambda value: [(f"excluded_{field}", type_) for field, type_ in _type(value)],
    "tag": lambda value: [(f"excluded_{field}", tag) for field, tag in _tag(value)],
}
