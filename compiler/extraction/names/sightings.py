"""Sightings of names in one source, and the names that its writer marked: links, bold, quotes, tags and @names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from content.markdown.links import find_links
from content.search.words import SPACELESS

from ..texts import metadata
from ..texts.language import DATES, EVERYWHERE, KINDS, word_set
from ..texts.text import fold_text, normalised, padded
from .buttons import IMPERATIVES, PRESS
from .capitals import HONORIFICS, PARTICLES
from .chinese import HAN
from .german_nouns import KIND_OF_FIRM
from .spaceless import without_politeness, without_role

CAPITALS = frozenset({"name", "first", "bare", "open"})
CENTRAL = frozenset({"place", "city", "person", "project", "journal", "title", "titled", "subject"})
FIRMS = word_set(
    """
    bank service services group gmbh ag kg se inc ltd llc plc corp corporation company labs lab studio studios airlines
    insurance systems software technologies solutions consulting partners logistics foundation versicherung stiftung
    """
)
SAINTS = frozenset({"st"})  # titles with which names of places begin as well
NAMING = frozenset({"name", "first"})
WEAK = frozenset({"noun", "bold", "quote", "joined"})
SURE = frozenset({"name", "aside", "link", "title"})
SHORT_FORM_MIN = 4  # letters
# The weights of a source that is about a name, and of a short note with a person's name, a rare name or a long name.
ABOUT_IT, CLEAR = 2.5, 2.0
WORK = 1.5  # the weight of a long source with the title of a work
# The weights of a source in which somebody only goes to or comes from a place, that only lists a name among many, and
# that has only weak marks for it.
IN_PASSING, IN_LIST, WEAKLY = 0.75, 0.5, 0.5
BEFORE_MAX = 40  # characters before a name that say where somebody goes
WEIGHTY = 3  # sentences with a name, from which on a short note is about it
HAN_NAME = re.compile(f"[{HAN}]{{4,}}")
YEAR = re.compile(r"(?:19|20)\d\d[a-z]?")
REGION = re.compile(r",\s")
FIRM = re.compile(r"(?:Firma|Fa\.|Gemeinde|Ortschaft|Dorf) (?=\S)")  # a word that adds nothing to the name after it
# A name near a longer name with it, which are then two things: `Java or Oracle Java`, `Oracle Java is no Java`.
DISTINGUISHED = r"(?<!\w){name}\W*(?:\w+\W+){{0,3}}{gap}|{gap}\W*(?:\w+\W+){{0,3}}{name}(?!\w)"
WHERE = re.compile(r"(?:^|\s)(?:in|into|nach|aus|en|em|à)(?: the| der| dem)? $", re.IGNORECASE)
# The words before a place to which somebody only goes, or from which somebody comes.
PASSING = re.compile(
    r"\b(?:go|goes|going|went|gone|come|comes|came|back|return(?:s|ed)?|travel(?:s|led|ed)?|mov(?:e|es|ed)|dr(?:ive|ives|ove)|fl(?:y|ies|ew)"
    r"|walk(?:s|ed)?|ride|rode|train|bus|flight|fahren|fährt|fuhren|fuhr|reise|flogen|flog|zurück)"
    r" (?:\w+ )?(?:to|from|nach|aus) (?:the )?$",
    re.IGNORECASE,
)
LED = re.compile(r"(?:La|Los|Las|El|Le|Les|Il|Lo) (?=[A-ZÀ-Þ])")
ARTICLE = re.compile(r"^(?:the|an?|der|die|das|le|la|les|el|los|las|os?|il|lo) (?=\S)")


@dataclass(slots=True)
class Sighting:
    """The sighting of one name in one source. `tallies` explains the marks."""

    key: str
    """The normalised name."""
    name: str
    """The name as it is first written. For a mark `part` the longer name."""
    marks: set[str] = field(default_factory=set)
    is_person: bool = False
    context: str = ""
    """A sentence with the name."""
    said: int = 0
    """The number of sentences that use it as a name."""
    listed: int = 0
    """How many of them only list it among many names."""
    passed: int = 0
    """How many of them only say that somebody or something comes from there or goes there."""
    acted: int = 0
    """How many of them say what it does or is."""
    where: int = 0
    """How many of them say that something is in it or goes there."""
    days: int = 1
    """The number of days whose entries contain it, if the source has entries of several days."""
    is_brief: bool = False
    """Whether the source is a short note without links, which mentions little in passing."""
    is_rare: bool = False
    """Whether it is one word that is rare in texts of the language, in a source without links."""
    is_common: bool = False
    """Whether it is a noun of two words that are both common in texts of the language."""
    is_actor: bool = False
    """Whether it begins a sentence of a short German note without an article, and does something there."""
    is_opening: bool = False
    """Whether it only begins sentences of a short note without links, in a language that writes nouns in small
    letters."""
    is_linked: bool = False
    """Whether a short note links it by hand."""
    is_unlisted: bool = False
    """Whether it is such a word, in a short note, and no dictionary has it."""

    @property
    def weight(self) -> float:
        """Return how much evidence the source is: 1 usually, more if it is about the name, less if it is in passing.

        A long source with a repeated word is not about it by that alone.
        """
        is_named = self.is_brief and (not NAMING.isdisjoint(self.marks) or self.is_sure_opening)
        is_about = self.is_brief or self.marks & CENTRAL != {"subject"}
        if is_about and (not CENTRAL.isdisjoint(self.marks) or (is_named and self.said >= WEIGHTY)):
            return ABOUT_IT
        if self.marks <= WEAK:
            return WEAKLY
        if self.said == self.passed == 1 and self.marks == {"name"} and not self.is_person:
            return IN_PASSING
        if 0 < self.said == self.listed and self.marks <= CAPITALS:
            return IN_LIST
        is_clear = self.is_person or self.is_whole_name or (self.is_rare and not self.where and not self.passed)
        if (is_named and is_clear) or (self.is_brief and "work" in self.marks):
            return CLEAR
        return WORK if "work" in self.marks else 1.0

    def count(self, before: str, *, acts: bool, is_listed: bool) -> None:
        """Count a sentence that uses it as a name. `before` is the text before the name."""
        before = before[-BEFORE_MAX:]
        self.said += 1
        self.passed += PASSING.search(before) is not None
        self.acted += acts
        self.where += WHERE.search(before) is not None
        self.listed += is_listed

    @property
    def word(self) -> str:
        """Return the word of the name that its key normalises, as it is written: `Nadia` of `Nadia Brandt`."""
        return next((word for word in self.name.split() if normalised(word) == self.key), self.name)

    @property
    def is_sure_opening(self) -> bool:
        """Return whether it is surely a name: it begins a sentence, and no dictionary has it."""
        return self.is_unlisted and "open" in self.marks

    @property
    def is_whole_name(self) -> bool:
        """Return whether it is a name of several words without digits: `Hospital Santa Clara`, `远山物流`."""
        return (" " in self.key or HAN_NAME.fullmatch(self.key) is not None) and not any(map(str.isdigit, self.key))


def key_of(name: str, kind: str) -> str:
    """Return the key of a name: normalised, a city without its region, a title without its article, no `さん`."""
    if kind == "person":
        return normalised(without_politeness(name))
    if kind in ("title", "work", "quote") or LED.match(name):
        return ARTICLE.sub("", normalised(name))
    return normalised(REGION.split(name, maxsplit=1)[0] if kind == "city" else name)


def first_name(name: str, key: str) -> str | None:
    """Return the word by which people call the person of this name: `Nadia` of `Nadia Brandt`, `Vos` of `Dr. Vos`.

    In scripts without spaces this is the name before a role. None is returned for a name that cannot be a person's.
    """
    words = name.split()
    if SPACELESS.search(name):
        return without_role(key)
    if not 2 <= len(words) <= 3 or len(key.split()) != len(words):
        return None
    title = words[0].lower().rstrip(".")
    if len(words) == 2 and title in HONORIFICS and title not in SAINTS and words[1][0].isupper() and words[1].isalpha():
        return key.split()[1]
    small = {word.lower().rstrip(".") for word in words}
    first = key.split()[0]
    if small & (HONORIFICS | PARTICLES) or not all(word[0].isupper() and word.isalpha() for word in words):
        return None
    return first if len(first) > 1 and first not in EVERYWHERE and first not in KINDS else None


def see(
    seen: dict[str, Sighting], name: str, kind: str, *, key: str = "", context: str = "", is_person: bool = False
) -> Sighting | None:
    """Add the mark `kind` to the sighting of a name, and return the sighting.

    None is returned for dates, numbers and, unless it is from metadata, words that every text has.
    """
    key = key or key_of(name, kind)
    if kind in ("name", "first") and (firm := FIRM.match(name)):
        name, key = name[firm.end() :], normalised(name[firm.end() :])
    if not key or key in DATES or key.isdigit() or (kind not in metadata.NAMED and key in EVERYWHERE):
        return None
    sighting = seen.setdefault(key, Sighting(key, name))
    if kind == "part":
        sighting.name = name
    sighting.marks.add(kind)
    sighting.is_person = sighting.is_person or is_person or kind == "person"
    sighting.context = sighting.context or context
    return sighting


def mark_people(seen: Mapping[str, Sighting]) -> None:
    """Mark full names as people's if the source uses their first names as people's: `Nadia Brandt … Nadia wrote`."""
    for sighting in seen.values():
        if not sighting.is_person and (first := first_name(sighting.name, sighting.key)):
            sighting.is_person = first in seen and seen[first].is_person


def is_joined(seen: Mapping[str, Sighting], sighting: Sighting) -> bool:
    """Return whether the words after the first are a name of their own, so that the first does not stand for both."""
    rest = seen.get(sighting.key.partition(" ")[2])
    return rest is not None and "name" in rest.marks


def cited_authors(seen: Mapping[str, Sighting]) -> list[tuple[str, Sighting]]:
    """Return (author, sighting of the author with the year) for names that are cited with a year: `Hallström 2016`."""
    parted = ((sighting.name.rpartition(" "), sighting) for sighting in seen.values() if "name" in sighting.marks)
    return [(author, sighting) for (author, _, year), sighting in parted if YEAR.fullmatch(year)]


def may_be_person(sighting: Sighting) -> bool:
    """Return whether it may be the name of a person, as other sources may show."""
    words = sighting.key.split()
    return len(words) == 2 and bool(sighting.marks & NAMING) and KINDS.isdisjoint(words) and FIRMS.isdisjoint(words)


def short_forms_of(seen: Mapping[str, Sighting]) -> list[tuple[str, Sighting]]:
    """Return (short form, sighting of the longer name) for words that stand for the only longer name with them.

    This is the first word of a longer name if the source uses it alone as a name: `Corvina Bank …, and Corvina will
    pay`. The first word of a firm's name always is, and so is the last word after a German kind of firm, because people
    leave out the kind.
    """
    by_first: dict[str, list[Sighting]] = {}
    by_last: dict[str, list[Sighting]] = {}
    for sighting in seen.values():
        kind, _, last = sighting.name.partition(" ")
        if len(last) >= SHORT_FORM_MIN and last.isalpha() and sighting.marks & NAMING and KIND_OF_FIRM.search(kind):
            by_last.setdefault(normalised(last), []).append(sighting)
        first, _, rest = sighting.key.partition(" ")
        is_thing = not (sighting.is_person or is_joined(seen, sighting))
        if rest and not YEAR.fullmatch(rest) and len(first) >= SHORT_FORM_MIN and sighting.marks & NAMING and is_thing:
            by_first.setdefault(first, []).append(sighting)
    return [(last, longer[0]) for last, longer in by_last.items() if len(longer) == 1] + [
        (first, longer[0])
        for first, longer in by_first.items()
        if len(longer) == 1
        and first not in KINDS
        and (longer[0].key.partition(" ")[2] in FIRMS or (first in seen and "name" in seen[first].marks))
    ]


def features_of(seen: Mapping[str, Sighting], texts: Sequence[str]) -> list[tuple[str, Sighting, Sighting]]:
    """Return (feature, product, sighting of both as one name) for features named with and without their product.

    `Acme Sync is paid. In Acme, press Sync.` If a sentence distinguishes both, they are two things: `Acme Java or
    Java`.
    """
    found: dict[str, list[tuple[Sighting, Sighting]]] = {}
    for whole in seen.values():
        words = whole.key.split()
        for at in range(1, len(words) if whole.marks & SURE and "part" not in whole.marks else 0):
            product, name = seen.get(" ".join(words[:at])), " ".join(words[at:])
            if product and name in seen and _is_product(product, whole, seen[name]):
                found.setdefault(name, []).append((product, whole))
    return [(name, *pairs[0]) for name, pairs in found.items() if len(pairs) == 1 and _stands_for(*pairs[0], texts)]


def _is_product(product: Sighting, whole: Sighting, feature: Sighting) -> bool:
    """Return whether the first words of a name can be a product: no person, no kind of thing, and no imperative."""
    words = KINDS | HONORIFICS | PRESS | IMPERATIVES
    is_nobody = not (product.is_person or whole.is_person or feature.is_person)
    return is_nobody and product.name[:1].isupper() and product.key not in words and feature.key not in KINDS


def _stands_for(product: Sighting, whole: Sighting, texts: Iterable[str]) -> bool:
    """Return whether sentences name a feature without its product, and none distinguishes it from the whole name."""
    name = " ".join(whole.name.split()[len(product.key.split()) :])
    rest = [text.replace(whole.name, GAP) for text in texts if name in text]
    said = [text for text in rest if name in text]
    distinguished = re.compile(DISTINGUISHED.format(name=re.escape(name), gap=re.escape(GAP.strip())))
    return bool(said) and not any(GAP in text and distinguished.search(text) for text in said)


def names_containing(seen: Mapping[str, Sighting], name: str) -> list[str]:
    """Return the longer names that contain this name, padded, the longest first."""
    found = [
        padded(key)
        for key, sighting in seen.items()
        if " " in key and key != name and f" {name} " in f" {key} " and (sighting.is_person or sighting.marks & NAMING)
    ]
    return sorted(found, key=len, reverse=True)


def mark_categories(seen: Mapping[str, Sighting], labels: Iterable[str], texts: Iterable[str]) -> None:
    """Replace the mark `tag` by `category` for those of these labels that the texts do not contain."""
    keys = [key for name in labels if (key := key_of(name, "tag")) in seen and seen[key].marks == {"tag"}]
    said = "\n".join(map(fold_text, texts)) if keys else ""
    for key in keys:
        if padded(key) not in said:
            seen[key].marks = {"category"}


def mark_aside(sightings: Iterable[Sighting]) -> None:
    """Replace the marks of names by capitals alone, except people's, by `aside`.

    They count less in a source that links by hand what matters to its writer.
    """
    for sighting in sightings:
        if "name" in sighting.marks and sighting.marks <= CAPITALS and not sighting.is_person:
            sighting.marks = {"aside"}


BOLD = re.compile(r"\*\*([^*\n]{2,60})\*\*|__([^_\n]{2,60})__")
ITALIC = re.compile(r"(?<![*\w])\*([^*\s][^*\n]{1,60})\*(?![*\w])|(?<![_\w])_([^_\s][^_\n]{1,60})_(?![_\w])")
QUOTE = re.compile(r"[“\"«「『《]([^“”\"«»「」『』《》\n]{2,50})[”\"»」』》]")
CODE = re.compile(r"`[^`\n]{1,80}`")
TAG = re.compile(r"(?<![\w#&/])#([^\W\d_][\w/-]{1,40})")
AT = re.compile(r"(?<![\w.])@([^\W\d_]\w{1,30})")
# A link to another site, with the name of what it leads to, in a script without spaces.
SHOWN = re.compile(
    r"(?<!!)\[(?=[^\[\]\n]{0,60}[\u3041-\u9fff])([^\[\]\n]{1,60})\]\(https?://[^()\s]{1,500}(?: \"[^\"\n]{0,200}\")?\)"
)
LINK = re.compile(r"\[\[[^\[\]\n]{1,600}\]\]|!?\[[^\[\]\n]{1,300}\]\([^()\n]{0,500}\)")
ADDRESS = re.compile(r"(?:https?://|www\.|mailto:)\S+")
OPENING = re.compile(r"[\[*_“\"«「『《#@]")
TITLED = "《『"
GAP = " \ue001 "  # a private-use character: neither a letter nor a space, and hardly ever in a text


def marks(line: str) -> Iterator[tuple[str, str]]:
    """Yield (mark, name as written) for the marked names of a raw line."""
    if not OPENING.search(line):
        return
    line = line.strip()  # lines of outliners are indented so far that markdown would take them for code
    for target in find_links(line) if "[[" in line else ():
        if name := _page_name(line, target.start, target.end):
            yield "link", name
    line = CODE.sub(GAP, line)
    line = SHOWN.sub(r"\1", line) if "](http" in line else line
    if "**" in line or "__" in line:
        yield from (("bold", match[1] or match[2]) for match in BOLD.finditer(line))
    if "*" in line or "_" in line:
        yield from (("quote", match[1] or match[2]) for match in ITALIC.finditer(line))
    for quote in QUOTE.finditer(line):
        yield "work" if quote[0][0] in TITLED else "quote", quote[1]
    line = ADDRESS.sub(GAP, LINK.sub(GAP, line))
    yield from (("tag", match[1].replace("-", " ").replace("_", " ")) for match in TAG.finditer(line))
    yield from (("at", match[1].replace("_", " ")) for match in AT.finditer(line))


def table_links(text: str) -> Iterator[str]:
    """Yield the pages that tables of a text link. Tables are not read as prose, but their links count."""
    if "[[" not in text or "|" not in text:
        return
    for target in find_links(text):
        line = text[text.rfind("\n", 0, target.start) + 1 : target.start]
        if line.lstrip().startswith("|") and (name := _page_name(text, target.start, target.end)):
            yield name


def without(line: str) -> str:
    """Return the line with gaps in place of marked names, except quotes and the texts of links to other sites.

    The rest is searched for names.
    """
    line = SHOWN.sub(r"\1", line) if "](http" in line else line
    for pattern in (LINK, CODE, BOLD, ADDRESS, TAG, AT):
        line = pattern.sub(GAP, line)
    return line


def _page_name(line: str, start: int, end: int) -> str | None:
    """Return the page of a wiki link: `[[folder/Name#part|shown]]` → `Name`. None is returned for other links."""
    written = line[start:end].lstrip("!")
    if not written.startswith("[["):
        return None
    return written[2:-2].replace("\\", "").partition("|")[0].partition("#")[0].rpartition("/")[2].strip()
