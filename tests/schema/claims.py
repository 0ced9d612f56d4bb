"""Generates claims of pages: superseded claims, contradictions, proposals, questions and share links."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.schema.draws import NASTY, Draws, Row

SECTION_SLUGS = ["overview", "notes", "visits", "related", "日本"]


class ClaimMaker(Draws):
    """Adds rows of claims to the tables."""

    def __init__(self, tables: dict[str, list[Row]], seed: int) -> None:
        super().__init__(seed)
        self.tables, self.scope = tables, dict[str, UUID]()
        self.authors: list[str] = []

    def add(self, table: str, **values: Any) -> Row:
        row = {**self.scope, **values}
        self.tables[table].append(row)
        return row

    def claims(self, page: Row, sources: list[Row]) -> None:
        """Add superseded claims. Some were withdrawn, and no reader sees those."""
        for number in range(self.rng.randrange(4)):
            self.add(
                "superseded_claims",
                id=self.id(),
                page_id=page["id"],
                section_slug=self.maybe(*SECTION_SLUGS),
                heading=self.maybe("", *NASTY),
                fact=f"{self.text()} {number}",
                replacement=self.text(),
                stated_by_id=self.maybe(self.rng.choice(sources)["id"]),
                overridden_by_id=self.maybe(self.rng.choice(sources)["id"]),
                superseded_on=self.moment(),
                digest=bytes([number]),
                author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
                author_id=self.rng.choice(self.authors),
                withdrawn_at=self.moment() if self.chance(0.3) else None,
                created_at=self.moment(),
            )

    def contradictions(self, page: Row, sources: list[Row]) -> None:
        """Add contradictions. The first is open; some of the others were decided."""
        for number in range(self.rng.randint(1, 2)):
            resolution = self.maybe("keep_newer", "keep_older", "both_hold") if number else None
            status = "open" if resolution is None else "dismissed" if resolution == "both_hold" else "resolved"
            older_on = self.moment()
            self.add(
                "contradictions",
                id=self.id(),
                page_id=page["id"],
                older_claim=f"{self.text()} {number}",
                older_section_slug=self.maybe(*SECTION_SLUGS),
                older_source_id=self.maybe(self.rng.choice(sources)["id"]),
                older_on=older_on,
                older_support=self.rng.randint(1, 4),
                newer_claim=self.text(),
                newer_section_slug=self.maybe(*SECTION_SLUGS),
                newer_source_id=self.maybe(self.rng.choice(sources)["id"]),
                newer_on=older_on if self.chance(0.3) else self.moment(),
                newer_support=self.rng.randint(1, 4),
                digest=bytes([number]),
                status=status,
                resolution=resolution,
                reason=resolution and self.text(),
                resolved_at=resolution and self.moment(),
                resolver_kind=resolution and self.rng.choice(["agent", "user", "compiler", "service"]),
                resolver_id=resolution and self.rng.choice(self.authors),
                author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
                author_id=self.rng.choice(self.authors),
                created_at=self.moment(),
            )

    def proposals(self, page: Row) -> None:
        """Add proposals. Some are of new pages, some were decided, and some are based on an older text."""
        for number in range(self.rng.randint(1, 2)):
            is_new, status = (
                number > 0 and self.chance(0.4),
                self.rng.choice(["open", "open", "accepted", "declined", "expired"]),
            )
            decider = self.rng.choice(self.authors) if status in ("accepted", "declined") else None
            text = self.maybe(f"{page['body_md']}\n\n## Later\n\nMore.", f"{page['body_md']}\n\nMore.")
            self.add(
                "proposals",
                id=self.id(),
                page_id=None if is_new else page["id"],
                page_type=page["type"],
                title=page["title"],
                base_version=None if is_new else self.rng.randint(1, page["version"]),
                operation="create_page" if is_new else "update_page",
                arguments={"draft": {"type": page["type"], "title": f"{page['title']} 2"}}
                if is_new
                else {"page_id": str(page["id"]), "title": page["title"]},
                proposed_title=page["title"],
                proposed_summary=self.maybe("", *NASTY),
                proposed_body=text,
                why=self.maybe("", *NASTY),
                evidence=self.rng.sample(["document:a", "url:https://example.com/"], self.rng.randrange(3)),
                significance=self.rng.choice(["low", "medium", "high"]),
                digest=str(self.id()).encode(),
                status=status,
                author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
                author_id=self.rng.choice(self.authors),
                created_at=self.moment(),
                expires_at=self.moment(),
                decided_at=None if status == "open" else self.moment(),
                decider_kind=decider and "user",
                decider_id=decider,
                reason=decider and self.text(),
                accepted_version=number + 1 if status == "accepted" and not is_new else None,
            )

    def questions(self, page: Row) -> None:
        """Add questions. Some are open or withdrawn; others were decided, with or without a page for the decision."""
        if self.chance(0.6):
            return
        decision = self.maybe("latte", "mocha")
        is_withdrawn = decision is None and self.chance(0.3)
        self.add(
            "decision_questions",
            id=self.id(),
            question=self.title(),
            why=self.text(),
            options=self.rng.sample(NASTY[:4], self.rng.randrange(3)),
            significance=self.rng.choice(["low", "medium", "high"]),
            status="withdrawn" if is_withdrawn else "decided" if decision else "open",
            decision=decision,
            reason=self.text() if is_withdrawn else None,
            page_id=page["id"] if decision and self.chance(0.5) else None,
            author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
            author_id=self.rng.choice(self.authors),
            created_at=self.moment(),
            decided_at=self.moment() if decision else None,
        )

    def share_links(self, page: Row) -> None:
        """Add share links. Some have expired, and some were withdrawn."""
        self.add(
            "share_links",
            id=self.id(),
            page_id=page["id"],
            token_hash=str(self.id()).encode(),
            author_kind=self.rng.choice(["agent", "user", "compiler", "service"]),
            author_id=self.rng.choice(self.authors),
            created_at=self.moment(),
            expires_at=self.moment() + timedelta(days=self.rng.choice([0, 36_500])),
            withdrawn_at=self.maybe(self.moment()),
        )
