"""Generates wikis for measurements, with sections, links, names and evidence; the same seed gives the same rows."""

import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

import asyncpg

from content.markdown.sections import Section, render
from content.templates import TEMPLATES
from db.database import Database
from db.tables import metadata
from resolvers.search.reindexing import reindex

Row = dict[str, Any]
START = datetime(2026, 1, 1, tzinfo=UTC)
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstv" for vowel in "aeio"]
TAGS = [f"tag-{n}" for n in range(40)]
TYPES = ["entity", "topic", "concept", "decision", "project"]
BRANCHES = 8  # children of a page
LINKS = 4  # references from a page
WORDS = 3_000


@dataclass(frozen=True)
class Wiki:
    """One scope. Its page 0 is the hub that the first `hub` other pages link to."""

    tenant_id: UUID
    owner_id: UUID
    pages: int
    hub: int = 0

    def id(self, kind: int, number: int) -> UUID:
        """Return the id of the `number`th row of a kind; ids ascend in the order of creation."""
        return UUID(int=(kind << 96) + (self.owner_id.int & 0xFFFFFFFF) * 2**48 + number)

    def page(self, number: int) -> UUID:
        return self.id(1, number)

    def proposal(self, number: int) -> UUID:
        """Return the id of the proposal for a page, whose number must be even."""
        return self.id(14, number)


def wiki(tenant: int, owner: int, pages: int, hub: int = 0) -> Wiki:
    """Return a wiki by its numbers. `owner` is unique over all tenants."""
    return Wiki(UUID(int=tenant << 64), UUID(int=(tenant << 64) + owner), pages, hub)


async def write_wikis(dsn: str, wikis: Sequence[Wiki], step: Callable[[Wiki], object] = lambda _: None) -> None:
    """Write the wikis into a migrated database. `step` is called after each wiki."""
    connection, database = await asyncpg.connect(dsn), Database(dsn, size=1)
    await database.open()
    try:
        for number, wiki in enumerate(wikis):
            rows = Author(wiki).rows(is_new_tenant=wiki.tenant_id not in {other.tenant_id for other in wikis[:number]})
            await write(connection, wiki, rows, is_first=number == 0)
            await reindex(database, wiki.tenant_id, wiki.owner_id)
            step(wiki)
        await connection.execute("VACUUM ANALYZE")
    finally:
        await connection.close()
        await database.close()


async def write(connection: asyncpg.Connection, wiki: Wiki, rows: dict[str, list[Row]], is_first: bool) -> None:
    for table in metadata.sorted_tables:
        if own := rows.get(table.name):
            records = [tuple(row.values()) for row in own]
            await connection.copy_records_to_table(table.name, records=records, columns=list(own[0]))
            if is_first:  # foreign-key checks are planned with the tables' statistics, and the plans are cached
                await connection.execute(f"ANALYZE {table.name}")


def vocabulary() -> list[str]:
    """Return made-up words, the common words first."""
    rng = random.Random(0)
    return sorted({"".join(rng.choices(SYLLABLES, k=3)) for _ in range(2 * WORDS)}, key=lambda w: hash_of(w))[:WORDS]


def hash_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


VOCABULARY = vocabulary()
WEIGHTS = list(accumulate(1 / (rank + 2) for rank in range(WORDS)))


class Author:
    """Generates the rows of one wiki."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki, self.rng = wiki, random.Random(wiki.owner_id.int)
        self.scope = {"tenant_id": wiki.tenant_id, "owner_id": wiki.owner_id}
        self.tables: dict[str, list[Row]] = {}
        self.titles = [self.title(number) for number in range(wiki.pages)]

    def rows(self, is_new_tenant: bool) -> dict[str, list[Row]]:
        tenant, owner = self.wiki.tenant_id, self.wiki.owner_id
        if is_new_tenant:
            self.tables["tenants"] = [{"tenant_id": tenant, "slug": f"tenant-{tenant}", "name": "Tenant"}]
        self.tables["owners"] = [
            {"tenant_id": tenant, "id": owner, "kind": "user", "slug": f"o-{owner}", "name": "Owner"}
        ]
        for number in range(self.wiki.pages):
            self.page(number)
            self.logged(number)
        self.hubness()
        for number in range(0, self.wiki.pages, 5):
            self.source(number)
        for number in range(0, self.wiki.pages, 10):
            self.mention(number)
        for number in range(0, self.wiki.pages, 2):
            self.claim(number)
            self.contradiction(number)
            self.lint_report(number)
            self.proposal(number)
            self.share_link(number)
            self.question(number)
        return self.tables

    def add(self, table: str, **values: Any) -> None:
        self.tables.setdefault(table, []).append({**self.scope, **values})

    # -- values

    def words(self, count: int) -> str:
        return " ".join(self.rng.choices(VOCABULARY, cum_weights=WEIGHTS, k=count))

    def title(self, number: int) -> str:
        return f"{self.words(2)} {number}".title()

    def moment(self, number: int) -> datetime:
        return START + timedelta(minutes=number)

    def slug(self, number: int) -> str:
        return self.titles[number].lower().replace(" ", "-")

    def status(self, number: int) -> str:
        return "archived" if number % 20 == 19 else "active"

    def linked(self, number: int) -> list[int]:
        """Return the numbers of the pages that a page links to: mostly older ones, and the hub."""
        size = self.wiki.pages
        found = {int(size * self.rng.random() ** 2) for _ in range(LINKS)} | ({0} if number <= self.wiki.hub else set())
        return sorted(found - {number})

    # -- rows

    def page(self, number: int) -> None:
        page_id, at = self.wiki.page(number), self.moment(number)
        sections, linked = self.sections(number), self.linked(number)
        self.add(
            "pages",
            id=page_id,
            type=TYPES[number % len(TYPES)],
            slug=self.slug(number),
            title=self.titles[number],
            summary=self.words(12),
            body_md=render(sections),
            status=self.status(number),
            tags=self.rng.sample(TAGS, 2),
            parent_page_id=self.wiki.page((number - 1) // BRANCHES) if number else None,
            hubness_score=0,
            last_compiled_at=at,
            created_at=at,
            updated_at=at,
        )
        self.add("revisions", id=self.wiki.id(2, number), page_id=page_id, version=1, title=self.titles[number],
                 body_md=render(sections), author_kind="user", author_id="author", created_at=at)  # fmt: skip
        self.add("page_positions", page_id=page_id, position=number + 1, changed_at=at)
        self.names(number, page_id)
        self.links(number, page_id, linked)

    def sections(self, number: int) -> list[Section]:
        page_id = self.wiki.page(number)
        sections = [
            Section(slug, heading, self.words(40)) for slug, heading in TEMPLATES[TYPES[number % len(TYPES)]][:4]
        ]
        for place, section in enumerate(sections):
            section_id = self.wiki.id(3, number * 8 + place)
            self.add("sections", id=section_id, page_id=page_id, section_slug=section.slug, heading=section.heading,
                     body_md=section.body, position=place)  # fmt: skip
            cited = self.wiki.id(4, int(self.wiki.pages * self.rng.random()) // 5)
            if place < 2:
                self.add("section_sources", id=self.wiki.id(5, number * 8 + place), page_id=page_id,
                         section_id=section_id, source_id=cited, created_at=self.moment(number))  # fmt: skip
        return sections

    def names(self, number: int, page_id: UUID) -> None:
        title, nickname = self.titles[number].lower(), f"{self.words(1)} nick{number}"
        for place, name in enumerate((title, nickname)):
            self.add("aliases", id=self.wiki.id(6, number * 2 + place), page_id=page_id, alias=name, name=name,
                     source="manual" if place else "compiler")  # fmt: skip
        slug, status = self.slug(number), self.status(number)
        for kind, name in (("title", title), ("alias", title), ("alias", nickname), ("slug", slug), ("slug", title)):
            self.add("page_names", page_id=page_id, kind=kind, name=name, status=status)
        if number % 10 == 0:
            self.add("old_slugs", type=TYPES[number % len(TYPES)], slug=f"once-{number}", page_id=page_id)

    def links(self, number: int, page_id: UUID, linked: Iterable[int]) -> None:
        kinds = [(page_id, self.wiki.page(other), "reference", "text") for other in linked]
        if number:
            above = self.wiki.page((number - 1) // BRANCHES)
            kinds += [(above, page_id, "parent_of", "parent"), (page_id, above, "child_of", "parent")]
        for place, (start, end, kind, reason) in enumerate(kinds):
            self.add("links", id=self.wiki.id(7, number * 16 + place), from_page_id=start, to_page_id=end, kind=kind,
                     reasons=[reason])  # fmt: skip
        for other in linked:
            slug = self.slug(other)
            self.add("link_targets", from_page_id=page_id, target=slug, slug=slug, alias=slug.replace("-", " "),
                     to_page_id=self.wiki.page(other))  # fmt: skip
        if number % 10 == 0:
            self.add("link_targets", from_page_id=page_id, target="nowhere", slug="nowhere", alias="nowhere",
                     to_page_id=None)  # fmt: skip

    def hubness(self) -> None:
        """Set the hubness scores from inbound references and children of active pages, as the product counts them."""
        seen = {page["id"] for page in self.tables["pages"] if page["status"] == "active"}
        scores = dict.fromkeys((page["id"] for page in self.tables["pages"]), 0)
        for link in self.tables["links"]:
            visible = link["from_page_id"] in seen
            if link["kind"] != "parent_of":
                scores[link["to_page_id"]] += visible * (1 if link["kind"] == "reference" else 2)
        for page in self.tables["pages"]:
            page["hubness_score"] = scores[page["id"]]

    def source(self, number: int) -> None:
        content = self.words(60)
        self.add(
            "sources",
            id=self.wiki.id(4, number // 5),
            kind="memory_unit" if number % 2 else "document",
            ref=f"ref-{number}",
            content=content,
            checksum=hash_of(content),
            captured_at=self.moment(number),
        )

    def claim(self, number: int) -> None:
        for place in range(2):
            fact = self.words(6)
            self.add(
                "superseded_claims",
                id=self.wiki.id(12, 2 * number + place),
                page_id=self.wiki.page(number),
                section_slug="overview",
                heading="",
                fact=fact,
                replacement=self.words(6),
                overridden_by_id=self.wiki.id(4, number // 5),
                superseded_on=self.moment(number),
                digest=hash_of(fact),
                author_kind="compiler",
                author_id="cairn",
            )

    def contradiction(self, number: int) -> None:
        older, newer = self.words(6), self.words(6)
        self.add(
            "contradictions",
            id=self.wiki.id(13, number),
            page_id=self.wiki.page(number),
            older_claim=older,
            older_on=self.moment(number),
            older_support=1,
            newer_claim=newer,
            newer_source_id=self.wiki.id(4, number // 5),
            newer_on=self.moment(number + 1),
            newer_support=1,
            digest=hash_of(f"{older} {newer}"),
            status="resolved" if number % 3 else "open",
            author_kind="compiler",
            author_id="cairn",
        )

    def lint_report(self, number: int) -> None:
        counts = f'[{{"name": "orphans", "total": {number}, "muted": 0}}]'
        self.add("lint_reports", id=self.wiki.id(15, number), trigger="schedule", found=number, muted=0, counts=counts,
                 created_at=self.moment(number))  # fmt: skip

    def proposal(self, number: int) -> None:
        text = self.words(12)
        self.add(
            "proposals",
            id=self.wiki.proposal(number),
            page_id=self.wiki.page(number),
            title=text,
            base_version=1,
            operation="update_page",
            proposed_body=text,
            significance="medium",
            digest=hash_of(f"{number} {text}"),
            status="declined" if number % 3 else "open",
            author_kind="agent",
            author_id="agent",
        )

    def logged(self, number: int) -> None:
        self.add("activity", id=self.wiki.id(17, number), at=self.moment(number), action="page.created",
                 page_id=self.wiki.page(number), actor_kind="agent", actor_id="agent")  # fmt: skip

    def share_link(self, number: int) -> None:
        self.add("share_links", id=self.wiki.id(16, number), page_id=self.wiki.page(number),
                 token_hash=hash_of(str(self.wiki.id(16, number))), author_kind="agent", author_id="agent",
                 created_at=self.moment(number), expires_at=self.moment(number))  # fmt: skip

    def question(self, number: int) -> None:
        self.add("decision_questions", id=self.wiki.id(18, number), question=self.words(5), why=self.words(9),
                 significance="medium", status="open", author_kind="agent", author_id="agent",
                 created_at=self.moment(number))  # fmt: skip

    def mention(self, number: int) -> None:
        own, name = self.wiki.id(8, number), f"{self.words(1)} {number}"
        self.add("mentions", id=own, name=name, alias=name, status="open", mention_count=2,
                 last_seen_at=self.moment(number))  # fmt: skip
        for place in {number // 5, number // 10}:
            self.add("sightings", mention_id=own, source_id=self.wiki.id(4, place), seen_at=self.moment(number))
