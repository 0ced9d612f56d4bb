"""Generates the pages of one wiki and all rows that belong to them."""

import hashlib
from uuid import UUID

from content.edits.differences import delta
from content.names import normalise
from db.tables.pages import PAGE_TYPES
from db.tables.sources import SOURCE_KINDS
from resolvers.knowledge.tool_calls import NO_PAGE, today
from tests.schema.claims import SECTION_SLUGS, ClaimMaker
from tests.schema.draws import NASTY, TAGS, WORDS, Row

KEY = 1 << 32  # the difference between the id of an owner and that of its API key
REASONS = ["text", "planner", "deterministic:city", "co_mention:x", "manual", '"quoted"', "é,{}"]


class WikiMaker(ClaimMaker):
    """Adds the rows of wikis to the tables."""

    def fill(self, tenant: UUID, owner: UUID, count: int) -> None:
        self.scope = {"tenant_id": tenant, "owner_id": owner}
        self.authors = [str(owner), str(UUID(int=owner.int + KEY)), 'o"h']
        pages: list[Row] = []
        for number in range(count):
            pages.append(self.page(number, pages))
        sources = self.sources()
        self.originals(sources)
        for page in pages:
            self.sections(page, pages, sources)
            self.names(page)
            self.claims(page, sources)
            self.contradictions(page, sources)
            self.revisions(page)
            self.proposals(page)
            self.share_links(page)
            self.questions(page)
            self.targets(page, pages)
        self.lint_reports()
        self.old_slugs(pages)
        self.links(pages)
        self.mentions(pages, sources)
        self.jobs()
        self.tool_calls(pages)
        self.positions(pages)
        self.renamings(pages)
        self.merged(pages)

    # -- rows

    def page(self, number: int, pages: list[Row]) -> Row:
        title = self.title()
        return self.add(
            "pages",
            id=self.id(),
            type=PAGE_TYPES[number % len(PAGE_TYPES)],
            slug=f"{self.rng.choice(WORDS)}-{number}",
            title=title,
            summary=self.maybe("", f"About {title}"),
            body_md=self.text(),
            status="archived" if self.chance(0.15) else "active",
            tags=self.rng.sample(TAGS, self.rng.randrange(4)),
            parent_page_id=self.rng.choice(pages[-5:])["id"] if pages and self.chance(0.8) else None,
            hubness_score=self.rng.randrange(4),
            version=self.rng.randint(1, 3),
            metadata=self.document(),
            last_compiled_at=self.maybe(self.moment()),
            created_at=self.moment(),
            updated_at=self.moment(),
        )

    def sections(self, page: Row, pages: list[Row], sources: list[Row]) -> None:
        slugs = self.rng.sample(SECTION_SLUGS, self.rng.randrange(len(SECTION_SLUGS)))
        for position, slug in enumerate(slugs):
            section = self.add(
                "sections",
                id=self.id(),
                page_id=page["id"],
                section_slug=slug,
                heading=self.rng.choice(["", slug, *NASTY]),
                body_md=self.text(),
                position=position,
                last_source_at=self.maybe(self.moment()),
                aggregation=self.maybe(self.document() | {"linked_page_ids": []}, self.aggregation(pages)),
                promoted_page_id=self.rng.choice(pages)["id"] if self.chance(0.4) else None,
                supported_at=self.maybe([self.maybe(self.moment()) for _ in range(self.rng.randrange(4))]),
                created_at=self.moment(),
                updated_at=self.moment(),
            )
            for source in self.rng.sample(sources, self.rng.randrange(4)):
                self.citation(page, section, source)

    def aggregation(self, pages: list[Row]) -> Row:
        linked = [str(page["id"]) for page in self.rng.sample(pages, 4)]
        return self.rng.choice([{"linked_page_ids": [*linked, "nonsense"]}, {"linked_page_ids": None}, {"status": "é"}])

    def citation(self, page: Row, section: Row, source: Row) -> None:
        start = self.maybe(1, 7)
        self.add(
            "section_sources",
            id=self.id(),
            page_id=page["id"],
            section_id=section["id"],
            source_id=source["id"],
            line_start=start,
            line_end=start and start + self.rng.randrange(3),
            summary=self.maybe("", *NASTY),
            created_at=self.moment(),
        )

    def lint_reports(self) -> None:
        for number in range(self.rng.randint(1, 4)):
            counts = [{"name": name, "total": number, "muted": 1} for name in ("orphans", "stale")[: 1 + number % 2]]
            self.add(
                "lint_reports",
                id=self.id(),
                trigger=self.rng.choice(["command", "schedule"]),
                found=number * len(counts),
                muted=len(counts),
                counts=counts,
                created_at=self.moment(),
            )

    def names(self, page: Row) -> None:
        texts = {page["title"], *self.rng.sample(NASTY, self.rng.randrange(3)), f"also {page['slug']}"}
        aliases = {normalise(text): text for text in sorted(texts) if normalise(text)}
        for alias, name in aliases.items():
            source = self.rng.choice(["compiler", "manual", "import"])
            self.add(
                "aliases",
                id=self.id(),
                page_id=page["id"],
                alias=alias,
                name=name,
                source=source,
                created_at=self.moment(),
            )
            self.searchable(page, "alias", alias)
        self.searchable(page, "slug", page["slug"])
        if normalise(page["title"]):
            self.searchable(page, "title", normalise(page["title"]))

    def searchable(self, page: Row, kind: str, name: str) -> None:
        self.add("page_names", page_id=page["id"], kind=kind, name=name, status=page["status"])

    def old_slugs(self, pages: list[Row]) -> None:
        """Add former slugs: two unused ones, the slug of an active page, and that of an archived page."""
        archived = next(page for page in pages if page["status"] == "archived")
        again = next(page for page in pages if page["status"] == "active")
        for slug, like in [
            ("once-1", pages[0]),
            ("once-2", pages[-1]),
            (again["slug"], again),
            (archived["slug"], archived),
        ]:
            heirs = [page for page in pages if page["type"] == like["type"] and page is not like]
            heir = next((page for page in heirs if page["status"] == "active"), heirs[0])
            self.add("old_slugs", type=heir["type"], slug=slug, page_id=heir["id"], created_at=self.moment())

    def revisions(self, page: Row) -> None:
        """Add revisions. The first is stored whole, and every second one as its difference from the first."""
        base = self.text()
        for version in range(1, page["version"] + 1):
            body = self.text() if version > 1 else base
            found = delta(base, body) if version % 2 == 0 else None
            self.add(
                "revisions",
                id=self.id(),
                page_id=page["id"],
                version=version,
                title=self.title(),
                summary=self.maybe("", "é"),
                body_md="" if found else body,
                base_version=1 if found else None,
                base_starts=found and found.starts,
                base_lengths=found and found.lengths,
                base_texts=found and found.texts,
                slug=None if version > 1 else "once",
                metadata=None if version > 1 else {"é": [1]},
                aliases=None if version > 1 else ["café", "x"],
                facts_version=1 if version == 2 else None,
                tags=self.rng.sample(TAGS, 2),
                edit_summary=self.maybe("", "Restored to version 1"),
                author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
                author_id=self.rng.choice(self.authors),
                created_at=self.moment(),
            )

    def targets(self, page: Row, pages: list[Row]) -> None:
        for name in self.rng.sample([*NASTY, *WORDS], self.rng.randrange(5)):
            self.add(
                "link_targets",
                from_page_id=page["id"],
                target=name,
                space=self.maybe("team"),
                type=self.maybe("entity", "topic"),
                slug=name[:20],
                alias=normalise(name),
                text=self.maybe("As *written*", name),
                section_slugs=self.maybe(["overview", "notes"]),
                to_page_id=self.rng.choice(pages)["id"] if self.chance(0.4) else None,
            )

    def links(self, pages: list[Row]) -> None:
        ids = [page["id"] for page in pages]
        kinds = ["reference", "reference", "parent_of", "child_of"]
        drawn = {(self.rng.choice(ids), self.rng.choice(ids), self.rng.choice(kinds)) for _ in range(3 * len(pages))}
        drawn |= {(there, here, kind) for here, there, kind in sorted(drawn)[:20]}
        for start, end, kind in sorted(drawn):
            if start != end:
                reasons = self.rng.sample(REASONS, self.rng.randint(1, 3))
                self.add(
                    "links",
                    id=self.id(),
                    from_page_id=start,
                    to_page_id=end,
                    kind=kind,
                    reasons=reasons,
                    created_at=self.moment(),
                )

    def sources(self) -> list[Row]:
        """Add sources. Some have several versions, of which each supersedes the one before."""
        found: list[Row] = []
        for number in range(10):
            kind, before = SOURCE_KINDS[number % 3 and number % len(SOURCE_KINDS)], None
            for version in range(1, self.rng.choice([1, 1, 2, 3]) + 1):
                before = self.source(kind, f"ref-{number}", version, before)
                found.append(before)
        return found

    def source(self, kind: str, ref: str, version: int, before: Row | None) -> Row:
        content = f"{ref} {version} {self.text()}"
        return self.add(
            "sources",
            id=self.id(),
            kind=kind,
            ref=ref,
            version=version,
            supersedes_id=before and before["id"],
            title=self.maybe("", *NASTY),
            content=content,
            checksum=hashlib.sha256(content.encode()).digest(),
            metadata=self.document(),
            captured_at=self.moment(),
            created_at=self.moment(),
        )

    def originals(self, sources: list[Row]) -> None:
        """Add the original files of some sources; pairs of sources share a file."""
        for number, source in enumerate(sources[::3]):
            data = f"{self.scope['owner_id']} {number // 2}".encode()
            file = hashlib.sha256(data).digest()
            if number % 2 == 0:
                self.add("blobs", hash=file, size=len(data), data=data, created_at=self.moment())
            self.add(
                "source_originals",
                source_id=source["id"],
                hash=file,
                media_type=self.rng.choice(["text/plain", "application/pdf"]),
                address=self.rng.choice(NASTY),
                flags=[{"line": n, "text": self.rng.choice(NASTY)} for n in range(1, self.rng.randint(2, 4))],
            )

    def mentions(self, pages: list[Row], sources: list[Row]) -> None:
        names = [page["title"] for page in pages if normalise(page["title"])] + WORDS
        seen = set()
        for name in self.rng.sample(names, 16):
            status = self.rng.choice(["open", "promoted", "ignored"])
            if (normalise(name), status) not in seen:
                seen.add((normalise(name), status))
                self.mention(name, status, pages, sources)

    def mention(self, name: str, status: str, pages: list[Row], sources: list[Row]) -> None:
        seen_in = self.rng.sample(sources, self.rng.randrange(4))
        mention = self.add(
            "mentions",
            id=self.id(),
            name=name,
            alias=normalise(name),
            status=status,
            mention_count=len(seen_in),
            suggested_type=self.maybe("entity", "concept"),
            contexts=[self.context(source) for source in seen_in * 3] or [self.context(sources[0])],
            promoted_page_id=self.rng.choice(pages)["id"] if status == "promoted" else None,
            first_seen_at=self.moment(),
            last_seen_at=self.moment(),
        )
        for source in seen_in:
            self.add("sightings", mention_id=mention["id"], source_id=source["id"], seen_at=self.moment())

    def context(self, source: Row) -> Row:
        whole = {"quote": self.rng.choice(NASTY), "sourceId": str(source["id"]), "at": self.moment().isoformat()}
        return self.rng.choice([whole, {"quote": ""}, whole | {"at": None}])

    def jobs(self) -> None:
        runs = False  # a wiki has at most one running job
        for number in range(14):
            status = self.rng.choice(["pending", "running", "succeeded", "failed", "cancelled"])
            status = "pending" if runs and status == "running" else status
            runs = runs or status == "running"
            self.add(
                "compile_jobs",
                id=self.id(),
                dedupe_key=f"{self.scope['owner_id']}:{number}",
                trigger=self.rng.choice(["source", "admin", "é"]),
                status=status,
                attempt=self.rng.randrange(3),
                run_after=self.moment(),
                started_at=self.maybe(self.moment()),
                finished_at=self.maybe(self.moment()),
                error=self.maybe("", 'it "broke"'),
                metrics=self.document(),
                created_at=self.moment(),
            )

    def positions(self, pages: list[Row]) -> None:
        """Add the positions of pages in the change feed; a deleted page has one too."""
        ids = [page["id"] for page in reversed(pages)] + [UUID(int=self.scope["owner_id"].int + 2**100)]
        for position, page_id in enumerate(ids, start=3):
            self.add("page_positions", page_id=page_id, position=position, changed_at=pages[0]["created_at"])

    def merged(self, pages: list[Row]) -> None:
        for page in pages[1:3]:
            self.add("merged_pages", page_id=page["id"], into_page_id=pages[0]["id"], created_at=page["created_at"])

    def renamings(self, pages: list[Row]) -> None:
        for number, page in enumerate(pages[:3] + pages[:1], start=1):
            own = UUID(int=page["id"].int + number)
            self.add("renamings", id=own, page_id=page["id"], slug="old", title="Old", reached_id=page["id"],
                     remaining=number, actor_kind="user", actor_id="mara", created_at=page["created_at"])  # fmt: skip

    def tool_calls(self, pages: list[Row]) -> None:
        """Add today's calls of one tool, whose name contains a tag: one without a page, the others of pages."""
        for calls, page_id in enumerate((NO_PAGE, *(page["id"] for page in pages[:8])), start=1):
            self.add("tool_calls", day=today(), tool="coffee_read", page_id=page_id, calls=calls)
