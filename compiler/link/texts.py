"""Links in the text of a section: titles in bold become links, and links without a target become plain text."""

import re
from collections.abc import Collection, Iterable
from uuid import UUID

from content.markdown.links import Target, find_links, linkify
from db.sql import statements
from resolvers.transactions.writer import Writer

from ..plan.pages import PagePlan
from ..plan.validation import Guard
from ..read.stored import COMPILING

IMPORTS = statements("import_export/imports")
BOLD = re.compile(r"\*\*(?=\S)((?:(?!\*\*)[^\r\n]){1,500})\*\*")
TITLES_MAX = 2_000


class PageLinks:
    """The pages to which some texts may link, read in at most two statements for all texts."""

    def __init__(self, guard: Guard, page_plans: Collection[PagePlan]) -> None:
        self.guard = guard
        self.pages = [
            (planned.page.id, planned.page.title, planned.page.type, planned.page.slug) for planned in page_plans
        ]
        self.by_title: dict[str, list[tuple[UUID, str, str]]] = {}
        self.stored: set[str] = set()
        """The link targets that are stored pages."""
        self.planned: set[str] = set()
        """The link targets that are pages of the plan."""

    async def look_up(self, reader: Writer, texts: Iterable[str]) -> None:
        """Look up the stored pages that these texts may link to."""
        all_texts = list(texts)
        titles = dict.fromkeys(title for text in all_texts for title in BOLD.findall(text))
        if titles:
            rows = await reader.all(COMPILING["find_titles"], titles=list(titles)[:TITLES_MAX])
            self.pages += [(row["id"], row["title"], row["type"], row["slug"]) for row in rows]
        for page_id, title, type, slug in self.pages:
            self.by_title.setdefault(title, []).append((page_id, type, slug))
        by_address = {
            target.target: target for text in all_texts for target in find_links(text) if target.space is None
        }
        if by_address:
            targets = list(by_address.values())
            rows = await reader.all(
                IMPORTS["find_named"],
                types=[target.type for target in targets],
                slugs=[target.slug for target in targets],
                aliases=[target.alias for target in targets],
                exact=[False] * len(targets),
            )
            self.stored = {targets[row["n"] - 1].target for row in rows}
            self.planned = {name for _, _, type, slug in self.pages for name in (slug, f"{type}/{slug}")}

    def link_text(self, text: str, page_id: UUID) -> str:
        """Return the text with its links, as it is stored on this page. A page does not link to itself."""

        def other(title: str) -> tuple[str, str, str] | None:
            pages = self.by_title.get(title, ())
            return next(((title, type, slug) for id, type, slug in pages if id != page_id), None)

        return linkify(self.without_broken_links(text), other)

    def without_broken_links(self, text: str) -> str:
        """Return the text in which links without a target are replaced by their label."""
        for target in reversed(find_links(text)):
            if not self.exists(target):
                self.guard.drop("stray_link", target.target)
                text = text[: target.start] + target.text.strip("*") + text[target.end :]
        return text

    def exists(self, target: Target) -> bool:
        """Return whether the target of a link is a stored page of this wiki, or a page of the plan."""
        return target.space is None and (target.target in self.stored or target.target in self.planned)
