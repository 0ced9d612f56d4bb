"""Links in the text of a section: titles in bold become links, and links that lead nowhere become plain text."""

import re
from collections.abc import Collection, Iterable
from uuid import UUID

from content.markdown.links import Target, find_links, linkify
from db.sql import statements
from resolvers.transactions.writer import Writer

from ..plan.pages import Work
from ..plan.validation import Guard
from ..read.stored import COMPILING

IMPORTS = statements("import_export/imports")
BOLD = re.compile(r"\*\*(?=\S)((?:(?!\*\*)[^\r\n]){1,500})\*\*")
TITLES_MAX = 2_000


class PageLinks:
    """The pages that some texts name, read in two statements for all of them."""

    def __init__(self, guard: Guard, work: Collection[Work]) -> None:
        self.guard = guard
        self.pages = [(one.page.id, one.page.title, one.page.type, one.page.slug) for one in work]
        self.by_title: dict[str, list[tuple[UUID, str, str]]] = {}
        self.known: set[str] = set()
        self.made: set[str] = set()

    async def look_up(self, reader: Writer, texts: Iterable[str]) -> None:
        """Look up the pages that these texts may link to, besides those that are written with them."""
        read = list(texts)
        titles = dict.fromkeys(title for text in read for title in BOLD.findall(text))
        if titles:
            rows = await reader.all(COMPILING["find_titles"], titles=list(titles)[:TITLES_MAX])
            self.pages += [(row["id"], row["title"], row["type"], row["slug"]) for row in rows]
        for page_id, title, type, slug in self.pages:
            self.by_title.setdefault(title, []).append((page_id, type, slug))
        targets = {target.target: target for text in read for target in find_links(text) if target.space is None}
        if targets:
            given = list(targets.values())
            rows = await reader.all(
                IMPORTS["find_named"],
                types=[target.type for target in given],
                slugs=[target.slug for target in given],
                aliases=[target.alias for target in given],
            )
            self.known = {given[row["n"] - 1].target for row in rows}
            self.made = {name for _, _, type, slug in self.pages for name in (slug, f"{type}/{slug}")}

    def link_text(self, text: str, page_id: UUID) -> str:
        """Return the text as it is stored on a page, which does not link to itself."""

        def other(title: str) -> tuple[str, str, str] | None:
            pages = self.by_title.get(title, ())
            return next(((title, type, slug) for id, type, slug in pages if id != page_id), None)

        return linkify(self.without_strays(text), other)

    def without_strays(self, text: str) -> str:
        for target in reversed(find_links(text)):
            if not self.leads(target):
                self.guard.drop("stray_link", target.target)
                text = text[: target.start] + target.text.strip("*") + text[target.end :]
        return text

    def leads(self, target: Target) -> bool:
        """Return whether a link leads to a page that is there, or is made with this one."""
        return target.space is None and (target.target in self.known or target.target in self.made)
