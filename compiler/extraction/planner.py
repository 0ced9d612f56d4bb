"""New sources in, a plan out.

What a source says of a name is decided by that source alone (`sightings`); what all of them together say is a sum
(`counting`); so the same sources earn the same names their pages in any order: docs/explanation/planner.md.
"""

import asyncio
from collections.abc import Iterable, Sequence
from uuid import UUID

from content.names import normalise

from ..planner import Knowledge, NewPage, PageCard, PageMerge, PageUpdate, Plan, SourceText
from .counting import Counts
from .decisions import decisions
from .deduplication import Deduplication
from .drafts import Draft, Named, links
from .evidence import says_capital
from .names.phrases import NameIndex, phrases, sentences_by_name
from .names.sightings import first_name
from .names.variants import KnownNames, city_names, find_introductions, other_forms, other_number, short_forms
from .proposals import new_page, page_update
from .reading_cache import keepable, load_words_of, reading_of
from .readings import Reading
from .tallies import tally_of, title
from .texts import metadata
from .texts.text import Sentence

NAMES_MAX = 100_000  # of pages, that texts are compared with
ABOUT = ("place", "city", "person", "project", "journal", "tag", "title")


class ExtractivePlanner:
    """A `Planner` of rules. Sources that were planned before are counted once, and give the same plan again."""

    is_free = True

    async def plan(self, sources: Sequence[SourceText], knowledge: Knowledge) -> Plan:
        unique = {source.id: source for source in sources}.values()
        readings = [await read(source) for source in sorted(unique, key=lambda one: (one.captured_at, str(one.id)))]
        batch = SourceBatch(readings, knowledge)
        await batch.look_up()
        batch.counts.add(readings)
        await batch.deduplicate()
        await batch.earn()
        batch.decide()
        await batch.gather()
        return await batch.plan()

    async def read_ahead(self, sources: Sequence[SourceText]) -> None:
        """Read as many of these sources as are cached until they are asked for."""
        for source in keepable(sources):
            await read(source)


async def read(source: SourceText) -> Reading:
    """Read all that a plan asks of one source alone. It takes long, so others on the event loop get a turn after it."""
    reading = reading_of(source)
    await load_words_of(reading)
    _ = reading.sightings
    await asyncio.sleep(0)
    return reading


class SourceBatch:
    """One call of the planner: what it was given, what it looked up, and the drafts that it makes of both."""

    def __init__(self, readings: Sequence[Reading], knowledge: Knowledge) -> None:
        self.readings = {reading.source.id: reading for reading in readings}
        self.knowledge = knowledge
        self.known = KnownNames()
        self.own: NameIndex | None = None
        self.counts = Counts(self.known)
        self.drafts: list[Draft] = []
        self.by_page: dict[UUID, Draft] = {}
        self.by_name: dict[str, Draft] = {}
        self.decided: dict[UUID, list[tuple[Sentence, Draft]]] = {}
        self.named: list[Named] = []
        self.merges: list[PageMerge] = []

    async def look_up(self) -> None:
        """Look up pages by what the texts say and what was sighted, and mentions by the latter."""
        sighted = {key for reading in self.readings.values() for key in reading.sightings}
        others = {other for key in sighted for other in other_forms(key)}
        titles = {normalise(one.title) for reading in self.readings.values() for one in decisions(reading)}
        firsts = {first for key in sighted if (first := key.split()[0]) != key}
        self.own = await self._own_names()
        await self._look_up_said(self.readings.values(), sighted | others | titles | firsts)
        held = await self.knowledge.mentions(sighted | others | firsts)
        tallies = map(tally_of, held.values())
        forms = {normalise(form) for tally in tallies for form in (*tally.forms, *tally.same_as)} - {""}
        whole = await self.knowledge.mentions(forms - held.keys()) if forms - held.keys() else {}
        self.known.held = {**held, **whole}
        await self._look_up_pages(forms)

    async def _own_names(self) -> NameIndex | None:
        """Return the names of all pages of the wiki; None where these are too many."""
        names = await self.knowledge.names(NAMES_MAX)
        return None if names is None else NameIndex(names)

    async def _look_up_said(self, readings: Iterable[Reading], names: set[str]) -> None:
        """Look up the pages of these names, and of all that the texts say.

        Where the wiki has too many names to compare, it is asked for the phrases of the texts, some at a time.
        """
        for reading in readings:
            names |= phrases(reading) if self.own is None else self.own.names_in(reading)
            if len(names) > NAMES_MAX:
                await self._look_up_pages(names)
                names = set()
            await asyncio.sleep(0)
        await self._look_up_pages(names)

    async def _look_up_pages(self, names: set[str]) -> None:
        """Look up the pages of those names that are not known yet."""
        names = {name for name in names if name and name not in self.known.pages}
        if names:
            self.known.add_pages(await self.knowledge.pages(names))

    async def deduplicate(self) -> None:
        """Bring together what new evidence says is one thing: two pages, or a page and a name that would earn one."""
        found = await Deduplication(self.known, self.counts, self.readings, self.knowledge).find()
        self.merges = found.merges
        for gone, into, cited in found.merged:
            draft = self._draft_of(into)
            for name in (gone.title, *sorted(gone.aliases)):
                draft.add_alias(name)
            draft.names |= gone.aliases
            self.by_page[gone.id] = draft
            self.by_name.update(dict.fromkeys(gone.aliases, draft))
            for reading in cited:
                self._about(draft, reading)
        for page, name in found.named:
            if name not in self.by_name:
                self._lead(name, self._draft_of(page), self.counts.written(name))

    def _lead(self, key: str, draft: Draft, name: str) -> None:
        """Let a name lead to a page that is there or is being made; a mention of it is a part of that."""
        draft.add_alias(name)
        self.by_name[key] = draft
        if key in self.known.held:
            draft.promotes[key] = None

    async def earn(self) -> None:
        """Draft pages for the names that have earned one, with all the sources that saw them."""
        for key in sorted(self.counts.tallies):
            if key not in self.by_name and (type := self.counts.verdict(key)):
                self._new(key, type)
        wanted = {id for draft in self.drafts for name in draft.promotes for id in self.known.held[name].source_ids}
        old = await self.knowledge.sources(sorted(wanted - set(self.readings), key=str))
        earlier = {id: reading_of(source) for id, source in old.items()}
        for draft in self.drafts:
            for name in draft.promotes:
                for id in self.known.held[name].source_ids:
                    if reading := self.readings.get(id) or earlier.get(id):
                        self._about(draft, reading)
            for name in sorted(draft.names):
                for reading, _ in self.counts.sighted.get(name, ()):
                    self._about(draft, reading)

    def _new(self, key: str, type: str) -> None:
        both = self.counts.both_numbers(key)
        tally = both or self.counts.tallies[key]
        name = title(key, tally)
        first = first_name(name, key) if type == "entity" and tally.is_person else self.counts.short_of(key, name)
        short = self.known.pages.get(first) if first else None
        long = self.known.pages.get(normalise(name)) if normalise(name) != key else None
        is_persons = tally.is_person and self.counts.may_be_person(str(first))
        if short and (not is_persons or (short.type == "entity" and normalise(short.title) != first)):
            short = None  # of what is no person, `deduplicate` has found it
        made = self.by_name.get(normalise(name)) if long is None else None
        same = [normalise(other) for other in tally.same_as]
        page = long or short or next(filter(None, map(self.known.page, same)), None)
        if draft := made or (self._draft_of(page) if page else None):
            # The first name alone, or the full one, has its page already.
            self._lead(key, draft, key if made or long else name)
            return
        draft = Draft(type, name, {key, normalise(name)}, tags=tally.tags)
        other = other_number(key) if both else None
        if other := other or (other_number(key) if {"title", "link"} & set(tally.marks) and type == "topic" else None):
            tallied = self.counts.tallies.get(other)
            draft.add_alias(next(iter(tallied.forms), other) if tallied else other)
        if normalise(name) != key:
            draft.add_alias(key)
            draft.aliases.setdefault(key)
        if first and first not in self.known.pages and first not in self.by_name:
            draft.add_alias(first)
        for form in (*self.counts.forms_of(key).values(), *tally.same_as):
            draft.add_alias(form)
        self.drafts.append(draft)
        for known_name in sorted(draft.names):
            self.by_name.setdefault(known_name, draft)
            card = self.known.held.get(known_name)
            if card and card.status != "ignored":
                draft.promotes[known_name] = None

    def _draft_of(self, page: PageCard) -> Draft:
        if page.id in self.by_page:
            return self.by_page[page.id]
        draft = self.by_page[page.id] = Draft(page.type, page.title, set(page.aliases), card=page)
        self.drafts.append(draft)
        for alias in page.aliases:
            self.by_name.setdefault(alias, draft)
        return draft

    # -- what the sources say of pages ---------------------------------------------------------------------------------

    def decide(self) -> None:
        """Draft a page for each decision, from its first source on."""
        for reading in self.readings.values():
            for decision in decisions(reading):
                key = normalise(decision.title)
                if not key:
                    continue
                draft = self._decision(key, decision.title)
                self._about(draft, reading)
                self.decided.setdefault(reading.source.id, []).append((decision.sentence, draft))

    def _decision(self, key: str, title: str) -> Draft:
        if page := self.known.decisions.get(key):
            return self._draft_of(page)
        for made in self.drafts:
            if made.type == "decision" and made.card is None and key in made.names:
                return made
        draft = Draft("decision", title, {key})
        self.drafts.append(draft)
        self.by_name.setdefault(key, draft)
        return draft

    async def gather(self) -> None:
        """Find the pages that each source names, and the other names that it gives them."""
        earlier = {
            id: reading for draft in self.drafts for id, reading in draft.readings.items() if id not in self.readings
        }
        await self._look_up_said(earlier.values(), set())
        for page in self.known.pages.values():
            self._draft_of(page)
        for reading in self.readings.values():
            self._name(reading)
            self._full(reading)
        names = NameIndex(self.by_name)
        for reading in (*self.readings.values(), *earlier.values()):
            self.named.append(self._named(reading, names))
            await asyncio.sleep(0)
        for one in self.named:
            if one.reading.source.id in self.readings:
                for draft in [*one.about, *(draft for drafts in one.sentences.values() for draft in drafts)]:
                    self._about(draft, one.reading)

    def _name(self, reading: Reading) -> None:
        """Add parts of a place's name, and a city with its region, as names of pages that are there or just earned."""
        for place, sighting in short_forms(reading):
            self._also(place, sighting.name)
        for city, name in city_names(reading):
            self._also(city, name)
        for long, short in find_introductions(reading):
            self._also(long, short.name)

    def _full(self, reading: Reading) -> None:
        """Add a full name to the page of a first name that has none yet."""
        for key, sighting in reading.sightings.items():
            first = first_name(sighting.name, key) if sighting.is_person else None
            draft = self.by_name.get(first) if first and self.counts.may_be_person(first) else None
            if draft and draft.type == "entity" and not any({first} < set(name.split()) for name in draft.names):
                self._also(str(first), sighting.name)

    def _also(self, key: str, name: str) -> None:
        draft = self.by_name.get(key)
        other = normalise(name)
        is_taken = other in self.by_name or other in self.known.pages
        if draft is not None and not is_taken and not self.known.is_ignored(other):
            draft.add_alias(name)
            self.by_name[other] = draft

    def _named(self, reading: Reading, names: NameIndex) -> Named:
        named = Named(reading)
        for name, indexes in sentences_by_name(reading, names).items():
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
        draft = self.by_name.get(name)
        if draft is None and (page := self.known.page(name)):
            draft = self._draft_of(page)
        return draft

    @staticmethod
    def _about(draft: Draft, reading: Reading) -> None:
        if reading.source.id in draft.readings:
            return
        draft.readings[reading.source.id] = reading
        if draft.card is not None and any(
            not draft.names.isdisjoint(reading.metadata.get(kind, ()))
            for kind in ("place", "person", "project", "title")
        ):
            draft.tags.update(metadata.tags(reading.source))

    # -- the answer ----------------------------------------------------------------------------------------------------

    async def plan(self) -> Plan:
        found = links(self.named)
        new_pages: dict[Draft, NewPage] = {}
        updates: list[PageUpdate] = []
        for draft in self.drafts:
            if draft.card is not None:
                updates += filter(None, [page_update(draft)])
            elif page := new_page(draft):
                new_pages[draft] = page
            await asyncio.sleep(0)
        made = {(draft.type, draft.title) for draft in new_pages}
        drafted = {name for name, draft in self.by_name.items() if draft.card is not None or draft in new_pages}
        return Plan(
            tuple(new_pages.values()),
            tuple(updates),
            tuple(self.counts.held_names(drafted)),
            tuple(
                link for link in found if all(end.id or (end.type, end.title) in made for end in (link.start, link.end))
            ),
            merges=tuple(self.merges),
        )


def _is_meant(draft: Draft, name: str, reading: Reading, index: int) -> bool:
    """Return whether the page is meant: one word must be written as a name, unless the page is about a word."""
    return draft.type != "entity" or " " in name or says_capital(reading.sentences[index], name)
