"""After any writes in any order all derived rows agree with the pages, and each write is logged once."""

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.links.links import link_pages, unlink_pages
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.pages.aliases import add_alias, remove_alias
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, archive_scope, create_page, delete_page, unarchive_page, update_page
from resolvers.pages.sections import move_section, patch_section, remove_section
from resolvers.pages.upsert import upsert_page
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki

NAMES = ["Austin", "Bat City", "ATX", "Café João", "東京"]
SLUGS = ["austin", "bat-city", "atx", "new-slug"]
PIECES = [
    "Plain words.",
    "[[Austin]]",
    "[[bat-city|the city]]",
    "[x](wiki:atx)",
    "[y](/wiki/entity/austin)",
    "[[travel:austin]]",
    "[[東京]]",
    "\n\n## Notes\n\n",
    "\n\n## Food\n\n[[Café João]]",
]

names = st.sampled_from(NAMES)
types = st.sampled_from(["topic", "entity"])
texts = st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join)
sections = st.sampled_from(["overview", "notes", "food", "related"])


class WikiMachine(RuleBasedStateMachine):
    """Writes at random into one wiki."""

    def __init__(self, dsn: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.wiki: Wiki = self.runner.run(open_wiki(dsn))
        self.logged = 0

    pages = Bundle("pages")

    def write(self, operation: Awaitable[Any]) -> Any:
        return self.runner.run(self.written(operation))

    async def written(self, operation: Awaitable[Any]) -> Any:
        """Return the result of the operation, or None if it refuses its input."""
        try:
            answer = await operation
        except (BadInput, Conflict, NotFound):
            answer = None
        await check_derived_rows(self.wiki)
        changed = answer if isinstance(answer, int) else answer is not None and answer.changed
        self.logged += bool(changed)
        assert len(await self.wiki.actions()) == self.logged
        return answer

    @property
    def here(self) -> tuple[Any, Any]:
        return self.wiki.database, self.wiki.scope

    @initialize(target=pages)
    def begin(self) -> Any:
        """Create pages so that each later write touches names, links and a parent that exist."""
        drafts = [
            PageDraft("topic", "Austin", body="[[bat-city]] [[Café João]]", aliases=["Bat City"]),
            PageDraft("entity", "Bat City", body="[x](/wiki/entity/austin) [[ATX]]", aliases=["Austin"]),
            PageDraft("topic", "ATX", body="[[Austin]] [[Bat City]]", aliases=["Café João"], status="archived"),
        ]
        ids = [self.write(create_page(*self.here, draft)).page_id for draft in drafts]
        self.write(set_parent(*self.here, ids[1], parent_id=ids[0]))
        return multiple(*ids)

    @rule(target=pages, type=types, title=names, body=texts, aliases=st.lists(names, max_size=2))
    def create(self, type: str, title: str, body: str, aliases: list[str]) -> UUID:
        return self.write(create_page(*self.here, PageDraft(type, title, body=body, aliases=aliases))).page_id

    @rule(target=pages, type=types, title=names, body=texts, parent=st.none() | pages)
    def upsert(self, type: str, title: str, body: str, parent: UUID | None) -> Any:
        saved = self.write(upsert_page(*self.here, PageDraft(type, title, body=body, parent_id=parent)))
        return saved.page_id if saved else multiple()

    @rule(type=types, title=names, text=texts)
    def upsert_section(self, type: str, title: str, text: str) -> None:
        self.write(upsert_page(*self.here, PageDraft(type, title, sections=[SectionDraft(text, "notes")])))

    @rule(page=pages, title=names, body=texts)
    def rewrite(self, page: UUID, title: str, body: str) -> None:
        self.write(update_page(*self.here, page, title=title, body=body))

    @rule(page=pages, slug=st.sampled_from(SLUGS), tags=st.lists(names, max_size=2))
    def rename(self, page: UUID, slug: str, tags: list[str]) -> None:
        self.write(update_page(*self.here, page, slug=slug, tags=tags, summary=None))

    @rule(page=pages, section=sections, body=texts)
    def patch(self, page: UUID, section: str, body: str) -> None:
        self.write(patch_section(*self.here, page, section_slug=section, body=body))

    @rule(page=pages, section=sections)
    def remove(self, page: UUID, section: str) -> None:
        self.write(remove_section(*self.here, page, section_slug=section))

    @rule(page=pages, section=sections, position=st.integers(0, 2))
    def move(self, page: UUID, section: str, position: int) -> None:
        self.write(move_section(*self.here, page, section_slug=section, position=position))

    @rule(page=pages, name=names)
    def name(self, page: UUID, name: str) -> None:
        self.write(add_alias(*self.here, page, name=name))

    @rule(page=pages, name=names)
    def unname(self, page: UUID, name: str) -> None:
        self.write(remove_alias(*self.here, page, name=name))

    @rule(page=pages, to=pages, reason=st.sampled_from(["planner", "manual"]))
    def link(self, page: UUID, to: UUID, reason: str) -> None:
        self.write(link_pages(*self.here, page, to, reason=reason))

    @rule(page=pages, to=pages, reason=st.sampled_from([None, "planner"]))
    def unlink(self, page: UUID, to: UUID, reason: str | None) -> None:
        self.write(unlink_pages(*self.here, page, to, reason=reason))

    @rule(page=pages, parent=st.none() | pages)
    def hang(self, page: UUID, parent: UUID | None) -> None:
        self.write(set_parent(*self.here, page, parent_id=parent))

    @rule(page=pages)
    def archive(self, page: UUID) -> None:
        self.write(archive_page(*self.here, page))

    @rule(page=pages)
    def unarchive(self, page: UUID) -> None:
        self.write(unarchive_page(*self.here, page))

    @rule(page=consumes(pages))
    def delete(self, page: UUID) -> None:
        self.write(delete_page(*self.here, page))

    @precondition(lambda self: self.logged > 6)
    @rule()
    def archive_everything(self) -> None:
        self.write(archive_scope(*self.here))

    def teardown(self) -> None:
        self.runner.run(close_wiki(self.wiki))
        self.runner.close()


def test_derived_rows_stay_consistent_after_random_writes(dsn: str) -> None:
    run_state_machine_as_test(
        lambda: WikiMachine(dsn),
        settings=settings(
            max_examples=20, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
