"""The rule-based planner (docs/explanation/planner.md).

How a source uses a name is decided from that source alone (`sightings`), and the evidence of all sources is a sum
(`counting`). So the same sources earn pages for the same names in any order.
"""

import asyncio
from collections.abc import Iterable, Sequence
from uuid import UUID

from content.names import normalise

from ..planner import Knowledge, NewPage, PageCard, PageMerge, PageUpdate, Plan, SourceText
from .counting import Counts
from .decisions.decisions import decisions
from .deduplication import Deduplication
from .drafts import Draft, NamedPages, links
from .evidence import says_capital
from .names.phrases import NameIndex, phrases, sentences_by_name
from .names.sightings import first_name
from .names.variants import (
    KnownNames,
    city_names,
    find_introductions,
    other_forms,
    other_number,
    other_spelling,
    short_forms,
)
from .plain_evidence import PlainEvidence, names_to_look_up
from .proposals import new_page, page_update
from .reading_cache import cacheable, read, reading_of
from .readings import Reading
from .standing import title
from .tallies import tally_of
from .texts import metadata
from .texts.text import Sentence

NAMES_MAX = 100_000  # names of pages with which texts are compared
EARLIER_MAX = 12  # compiled sources in which each name of a new page is looked for
# The kinds of metadata that say what a source is about.
ABOUT = ("place", "city", "person", "project", "journal", "tag", "title")


class ExtractivePlanner:
    """A rule-based `Planner`. A source that is planned again is counted once, and gives the same plan."""

    is_free = True

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        unique = {source.id: source for source in sources}.values()
        oldest_first = sorted(unique, key=lambda source: (source.captured_at, str(source.id)))
        readings = [await read(source) for source in oldest_first]
        batch = SourceBatch(readings, knowledge)
        await batch.look_up()
        batch.counts.add(readings)
        await PlainEvidence(batch.counts, batch.known, knowledge).add(readings)
        await batch.deduplicate()
        await batch.draft_earned()
        batch.draft_decisions()
        await batch.gather()
        return await batch.plan()

    async def read_ahead(self, sources: Sequence[SourceText]) -> None:
        """Read and cache the first of these sources, as many as the cache keeps until they are planned."""
        for source in cacheable(sources):
            await read(source)


class SourceBatch:
    """One call of the planner: the batch of sources, the looked-up pages and mentions, and the drafts of pages."""

    def __init__(self, readings: Sequence[Reading], knowledge: Knowledge) -> None:
        self.readings = {reading.source.id: reading for reading in readings}
        self.knowledge = knowledge
        self.known = KnownNames()
        self.page_names: NameIndex | None = None
        """The names of all pages of the wiki; None if there are more than NAMES_MAX."""
        self.counts = Counts(self.known)
        self.drafts: list[Draft] = []
        self.by_page: dict[UUID, Draft] = {}
        """The drafts of stored pages by the id of the page."""
        self.by_name: dict[str, Draft] = {}
        """The draft of the page to which each normalised name leads."""
        self.decided: dict[UUID, list[tuple[Sentence, Draft]]] = {}
        """The sentences that state decisions, by source, each with the draft of its page."""
        self.named: list[NamedPages] = []
        self.merges: list[PageMerge] = []

    async def look_up(self) -> None:
        """Look up the pages for all names in the texts, and the mentions for the sighted names."""
        sighted = {key for reading in self.readings.values() for key in reading.sightings}
        others = {other for key in sighted for other in other_forms(key)}
        titles = {normalise(decision.title) for reading in self.readings.values() for decision in decisions(reading)}
        firsts = {first for key in sighted if (first := key.split()[0]) != key}
        self.page_names = await self._read_page_names()
        await self._look_up_texts(self.readings.values(), sighted | others | titles | firsts)
        plain = set(names_to_look_up(self.readings.values()))
        held = await self.knowledge.mentions(sighted | others | firsts | plain)
        tallies = map(tally_of, held.values())
        forms = {normalise(form) for tally in tallies for form in (*tally.forms, *tally.same_as)} - {""}
        held_forms = await self.knowledge.mentions(forms - held.keys()) if forms - held.keys() else {}
        self.known.held = {**held, **held_forms}
        await self._look_up_pages(forms.union(*map(other_forms, plain & held.keys())))

    async def _read_page_names(self) -> NameIndex | None:
        """Return the names of all pages of the wiki, or None if there are more than NAMES_MAX."""
        names = await self.knowledge.names(NAMES_MAX)
        return None if names is None else NameIndex(names)

    async def _look_up_texts(self, readings: Iterable[Reading], names: set[str]) -> None:
        """Look up the pages of these names, and of all names in the texts.

        If the wiki has too many names to compare them here, all phrases of the texts are looked up instead, in parts.
        """
        for reading in readings:
            names |= phrases(reading) if self.page_names is None else self.page_names.names_in(reading)
            if len(names) > NAMES_MAX:
                await self._look_up_pages(names)
                names = set()
            await asyncio.sleep(0)
        await self._look_up_pages(names)

    async def _look_up_pages(self, names: set[str]) -> None:
        """Look up the pages of the names that were not found before."""
        names = {name for name in names if name and name not in self.known.pages}
        if names:
            self.known.add_pages(await self.knowledge.pages(names))

    async def deduplicate(self) -> None:
        """Merge the pages that are about the same thing by the new evidence, and give pages the names of their subject
        that would otherwise earn pages of their own."""
        found = await Deduplication(self.known, self.counts, self.readings, self.knowledge).find()
        self.merges = found.merges
        for duplicate, into, cited in found.merged:
            draft = self._draft_of(into)
            for name in (duplicate.title, *sorted(duplicate.aliases)):
                draft.add_alias(name)
            draft.names |= duplicate.aliases
            self.by_page[duplicate.id] = draft
            self.by_name.update(dict.fromkeys(duplicate.aliases, draft))
            for reading in cited:
                self._add_reading(draft, reading)
        for page, name in found.named:
            if name not in self.by_name:
                self._assign_name(name, self._draft_of(page), self.counts.written(name))

    def _assign_name(self, key: str, draft: Draft, name: str) -> None:
        """Make a name lead to a draft. A mention of it is promoted to the page of the draft."""
        draft.add_alias(name)
        self.by_name[key] = draft
        if key in self.known.held:
            draft.promotes[key] = None

    async def draft_earned(self) -> None:
        """Draft pages for the names that have earned one, with all sources that contain them."""
        for key in sorted(self.counts.tallies):
            if key not in self.by_name and (type := self.counts.earned_type(key)):
                self._draft_name(key, type)
        wanted = {id for draft in self.drafts for name in draft.promotes for id in self.known.held[name].source_ids}
        old = await self.knowledge.sources(sorted(wanted - set(self.readings), key=str))
        earlier = {id: reading_of(source) for id, source in old.items()}
        for draft in self.drafts:
            for name in draft.promotes:
                for id in self.known.held[name].source_ids:
                    if reading := self.readings.get(id) or earlier.get(id):
                        self._add_reading(draft, reading)
            for name in sorted(draft.names):
                for reading, _ in self.counts.sighted.get(name, ()):
                    self._add_reading(draft, reading)

    def _draft_name(self, key: str, type: str) -> None:
        """Draft a page for a name, or assign the name to the page of its first name or its longer name."""
        numbered, spelt = (self.by_name.get(form(key) or "") for form in (other_number, other_spelling))
        other = numbered if numbered and numbered.type == type == "topic" else spelt
        if other and other.type != "decision":
            self._assign_name(key, other, self.counts.written(key))
            return
        both = self.counts.both_numbers(key)
        tally = both or self.counts.tallies[key]
        name = title(key, tally)
        first = first_name(name, key) if type == "entity" and tally.is_person else self.counts.short_of(key, name)
        short = self.known.pages.get(first) if first else None
        long = self.known.pages.get(normalise(name)) if normalise(name) != key else None
        is_persons = tally.is_person and self.counts.may_be_person(str(first))
        if short and (not is_persons or (short.type == "entity" and normalise(short.title) != first)):
            short = None  # short names of other things were handled by `deduplicate`
        drafted = self.by_name.get(normalise(name)) if long is None else None
        same = [normalise(other) for other in tally.same_as]
        page = long or short or next(filter(None, map(self.known.page, same)), None)
        if draft := drafted or (self._draft_of(page) if page else None):
            # The first name alone, or the longer name, has its page already.
            self._assign_name(key, draft, key if drafted or long else name)
            return
        draft = Draft(type, name, {key, normalise(name)}, tags=tally.tags)
        number = other_number(key)
        if number and (both or (type == "topic" and {"title", "link"} & set(tally.marks))):
            tallied = self.counts.tallies.get(number)
            draft.add_alias(tallied.form_of(number) if tallied else number)
        if normalise(name) != key:
            draft.add_alias(key)
            draft.aliases.setdefault(key)
        if first and first not in self.known.pages and first not in self.by_name:
            draft.add_alias(first)
        hyphenated = [key.replace(" ", "-")] if tally.marks["tag"] and " " in key else []  # `#date-night`
        for form in (*self.counts.forms_of(key).values(), *tally.same_as, *hyphenated):
            draft.add_alias(form)
        self.drafts.append(draft)
        for known_name in sorted(draft.names):
            self.by_name.setdefault(known_name, draft)
            card = self.known.held.get(known_name)
            if card and card.status != "ignored":
                draft.promotes[known_name] = None

    def _draft_of(self, page: PageCard) -> Draft:
        """Return the draft of a stored page, a new one if there is none yet."""
        if page.id in self.by_page:
            return self.by_page[page.id]
        draft = self.by_page[page.id] = Draft(page.type, page.title, set(page.aliases), card=page)
        self.drafts.append(draft)
        for alias in page.aliases:
            self.by_name.setdefault(alias, draft)
        return draft

    # -- the sources of each page --------------------------------------------------------------------------------------

    def draft_decisions(self) -> None:
        """Draft a page for each decision. One source is enough for it."""
        for reading in self.readings.values():
            for decision in decisions(reading):
                key = normalise(decision.title)
                if not key:
                    continue
                draft = self._decision_draft(key, decision.title)
                self._add_reading(draft, reading)
                self.decided.setdefault(reading.source.id, []).append((decision.sentence, draft))

    def _decision_draft(self, key: str, title: str) -> Draft:
        """Return the draft of the decision with this title, a new one if there is none yet."""
        if page := self.known.decisions.get(key):
            return self._draft_of(page)
        for drafted in self.drafts:
            if drafted.type == "decision" and drafted.card is None and key in drafted.names:
                return drafted
        draft = Draft("decision", title, {key})
        self.drafts.append(draft)
        self.by_name.setdefault(key, draft)
        return draft

    async def gather(self) -> None:
        """Find the pages that each source names, and add the sources and their other names for these pages."""
        earlier = {
            id: reading for draft in self.drafts for id, reading in draft.readings.items() if id not in self.readings
        }
        await self._look_up_texts(earlier.values(), set())
        for page in self.known.pages.values():
            self._draft_of(page)
        for reading in self.readings.values():
            self._add_other_names(reading)
            self._add_full_names(reading)
        names = NameIndex(self.by_name)
        for reading in (*self.readings.values(), *earlier.values()):
            self.named.append(self._find_named(reading, names))
            await asyncio.sleep(0)
        for named in self.named:
            if named.reading.source.id in self.readings:
                for draft in [*named.about, *(draft for drafts in named.sentences.values() for draft in drafts)]:
                    self._add_reading(draft, named.reading)
        await self._gather_earlier()

    async def _gather_earlier(self) -> None:
        """Add to drafts the compiled sources that contain a new name of the page, if short notes contain it."""
        drafts = [
            draft
            for draft in self.drafts
            if draft.type != "decision" and any(reading.is_brief for reading in draft.readings.values())
        ]
        new = {name: draft for draft in drafts for name in draft.new_names}
        found = await self.knowledge.sources_with(sorted(new), EARLIER_MAX) if new else {}
        wanted = {id for name, ids in found.items() for id in ids if id not in new[name].readings}
        sources = await self.knowledge.sources(sorted(wanted, key=str)) if wanted else {}
        readings = [reading_of(source) for source in sources.values()]
        if self.page_names is None:
            await self._look_up_texts(readings, set())
        index, stored = NameIndex(new), self.page_names or NameIndex(self.known.pages)
        for reading in readings:
            names = index.names_in(reading)
            longer = stored.names_in(reading) if names else set()
            for name, indexes in sentences_by_name(reading, names | longer).items():
                draft = new.get(name)
                if draft and any(_is_meant(draft, name, reading, index) for index in indexes):
                    self._add_reading(draft, reading)
            await asyncio.sleep(0)

    def _add_other_names(self, reading: Reading) -> None:
        """Add to drafts the other names that the source has for them.

        These are parts of a place's name, a city's name with its region, short forms that the source introduces, and
        other spellings.
        """
        for place, sighting in short_forms(reading):
            self._add_name(place, sighting.name)
        for city, name in city_names(reading):
            self._add_name(city, name)
        for long, short in find_introductions(reading):
            self._add_name(long, short.name)
        for key, sighting in reading.sightings.items():
            if normalise(sighting.name) == key and (spelt := other_spelling(key)):
                self._add_name(spelt, sighting.name)

    def _add_full_names(self, reading: Reading) -> None:
        """Add the full names of people to the drafts of their first names that have no full name yet."""
        for key, sighting in reading.sightings.items():
            first = first_name(sighting.name, key) if sighting.is_person else None
            draft = self.by_name.get(first) if first and self.counts.may_be_person(first) else None
            if draft and draft.type == "entity" and not any({first} < set(name.split()) for name in draft.names):
                self._add_name(str(first), sighting.name)

    def _add_name(self, key: str, name: str) -> None:
        """Add another name to the draft to which `key` leads, unless it leads to another page or is ignored."""
        draft = self.by_name.get(key)
        other = normalise(name)
        is_taken = other in self.by_name or other in self.known.pages
        if draft is not None and not is_taken and not self.known.is_ignored(other):
            draft.add_alias(name)
            self.by_name[other] = draft

    def _find_named(self, reading: Reading, names: NameIndex) -> NamedPages:
        """Return the drafts that a source names, by sentence, and those that it is about."""
        named = NamedPages(reading)
        for name, indexes in sentences_by_name(reading, names.names_in(reading)).items():
            draft = self.by_name[name]
            for index in indexes:
                if _is_meant(draft, name, reading, index):
                    drafts = named.sentences.setdefault(index, [])
                    if draft not in drafts:
                        drafts.append(draft)
        for sentence, draft in self.decided.get(reading.source.id, ()):
            named.sentences.setdefault(reading.sentences.index(sentence), []).append(draft)
        about = {name: None for kind in ABOUT for name in sorted(reading.metadata.get(kind, ()))}
        linked = {key: None for key, sighting in reading.sightings.items() if "link" in sighting.marks}
        for subject in filter(None, map(self._subject, about)):
            if subject not in named.about:
                named.about.append(subject)
        for target in filter(None, map(self._subject, linked)):
            if not any(target in drafts for drafts in named.sentences.values()):
                named.sentences.setdefault(-1 - len(named.sentences), []).append(target)
        return named

    def _subject(self, name: str) -> Draft | None:
        """Return the draft to which a name leads, also by its other spelling or number."""
        draft = self.by_name.get(name)
        if draft is None and (page := self.known.page(name)):
            draft = self._draft_of(page)
        return draft

    @staticmethod
    def _add_reading(draft: Draft, reading: Reading) -> None:
        """Add a source to those of a draft, with its tags if its metadata says that it is about a stored page."""
        if reading.source.id in draft.readings:
            return
        draft.readings[reading.source.id] = reading
        if draft.card is not None and any(
            not draft.names.isdisjoint(reading.metadata.get(kind, ()))
            for kind in ("place", "person", "project", "title")
        ):
            draft.tags.update(metadata.tags(reading.source))

    # -- the plan ------------------------------------------------------------------------------------------------------

    async def plan(self) -> Plan:
        """Return the plan of all drafts. Links to drafts that become no pages are left out."""
        found = links(self.named)
        new_pages: dict[Draft, NewPage] = {}
        updates: list[PageUpdate] = []
        for draft in self.drafts:
            if draft.card is not None:
                updates += filter(None, [page_update(draft)])
            elif page := new_page(draft):
                new_pages[draft] = page
            await asyncio.sleep(0)
        proposed = {(draft.type, draft.title) for draft in new_pages}
        drafted = {name for name, draft in self.by_name.items() if draft.card is not None or draft in new_pages}
        return Plan(
            tuple(new_pages.values()),
            tuple(updates),
            tuple(self.counts.held_names(drafted)),
            tuple(
                link
                for link in found
                if all(end.id or (end.type, end.title) in proposed for end in (link.start, link.end))
            ),
            merges=tuple(self.merges),
        )


def _is_meant(draft: Draft, name: str, reading: Reading, index: int) -> bool:
    """Return whether a sentence means this page. For an entity, a single word must be written with a capital."""
    return draft.type != "entity" or " " in name or says_capital(reading.sentences[index], name)
