"""A page under another name, and the texts that call it by the old one.

What is not rewritten goes on meaning the page: its old slug and its old title stay names of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from content.links import Target, can_be_linked, rename_links
from content.names import normalise
from content.sections import Section
from content.slugs import NoSlug, is_slug, slugify
from db.database import Database
from db.scope import Scope
from db.sql import statements

from . import checks, outline
from .activity import record
from .errors import BadInput
from .long_texts import read_through
from .outline import Outline
from .page_slugs import check_free
from .records import Page, Saved, find_page
from .revisions import save
from .unset import UNSET, Given
from .writer import Writer
from .writing import check_version, writing_page

TARGETS = statements("link_targets")
# So many texts are rewritten in the one transaction, the greatest hubs first: about two seconds of the wiki's time.
REWRITTEN_MAX = 200

Respelling = Callable[[Target, str], str | None]


@dataclass(frozen=True, slots=True)
class Renamed:
    """`rewritten` are the pages whose links were spelled anew; `left` is how many more link to the page."""

    saved: Saved
    rewritten: tuple[UUID, ...] = ()
    left: int = 0


async def rename_page(
    database: Database,
    scope: Scope,
    page_id: UUID,
    *,
    title: Given[str] = UNSET,
    slug: Given[str] = UNSET,
    expected_version: int | None = None,
    summary: str | None = None,
) -> Renamed:
    """Another title, another slug, or both; and the new name in the links of texts that say the old one."""
    title = title if title is UNSET else checks.title(title)
    slug = slug if slug is UNSET else checks.slug(slug)
    summary = checks.optional(summary, "summary")
    async with writing_page(database, scope, page_id) as (writer, page):
        check_version(page, expected_version)
        after = replace(page, title=page.title if title is UNSET else title, slug=page.slug if slug is UNSET else slug)
        if after.slug != page.slug:
            await check_free(writer, page.type, after.slug, but=page)
        linking, left = await find_linking(writer, page)
        saved = await save(writer, page, after, edit_summary=summary)
        if not saved.changed:
            return Renamed(saved)
        name = NewName(page, after, await means(writer, after, after.slug), await means(writer, after, after.title))
        rewritten = await rewrite(writer, linking, name)
        saved = replace(saved, version=rewritten.get(page.id, saved.version))
        await record(writer, "page.renamed", page.id, version=saved.version, texts=len(rewritten))
        return Renamed(saved, tuple(rewritten), left)


@dataclass(frozen=True, slots=True)
class NewName:
    """What a page was called and is called, and whether its slug and its title, as the name in a link, mean it."""

    old: Page
    new: Page
    slug_means_it: bool
    title_means_it: bool

    def respelled(self, link: Target, written: str) -> str | None:
        """The new name in a link to the page; None where the link does not call it by the old name."""
        if link.type is not None or (link.slug == self.old.slug and (not written or is_slug(written.strip()))):
            changed = link.slug == self.old.slug and self.new.slug != self.old.slug
            return self.new.slug if changed and (link.type is not None or self.slug_means_it) else None
        if not written or link.alias != normalise(self.old.title) or self.new.title == self.old.title:
            return None
        return self.new.title if self.title_means_it and can_be_linked(self.new.title) else None


async def find_linking(writer: Writer, page: Page) -> tuple[dict[UUID, frozenset[str]], int]:
    """The targets by which texts mean the page, text by text; and how many texts more there are."""
    rows = await writer.all(TARGETS["find_linking"], page_id=page.id, most=REWRITTEN_MAX)
    found = {row["id"]: frozenset(row["targets"]) for row in rows}
    return found, rows[0]["total"] - len(rows) if rows else 0


async def means(writer: Writer, page: Page, name: str) -> bool:
    """Whether a link without a type that says the name is one to the page, now."""
    try:
        slug = slugify(name)
    except NoSlug:
        return False
    return bool(await writer.value(TARGETS["find_meant"], slug=slug, alias=normalise(name)) == page.id)


async def rewrite(writer: Writer, linking: Mapping[UUID, frozenset[str]], name: NewName) -> dict[UUID, int]:
    """The versions of the pages whose texts were rewritten."""
    versions: dict[UUID, int] = {}
    for page_id, targets in linking.items():
        page = await find_page(writer, page_id)
        if page is None:
            continue
        sections = await read_through(outline.size(page.sections), renamed, page.sections, targets, name)
        if sections != page.sections:
            summary = f"Renamed link: {name.old.title} → {name.new.title}"
            versions[page_id] = (
                await save(writer, page, replace(page, sections=sections), edit_summary=summary)
            ).version
    return versions


def renamed(sections: Outline, targets: frozenset[str], name: NewName) -> Outline:
    """The sections with the links spelled anew; as they were where the new name is too long for them."""

    def respelling(link: Target, written: str) -> str | None:
        return name.respelled(link, written) if link.target in targets else None

    try:
        return outline.standing((respelled(section, respelling) for section in sections), "title")
    except BadInput:
        return sections


def respelled(section: Section, respelling: Respelling) -> Section:
    return replace(
        section, heading=rename_links(section.heading, respelling), body=rename_links(section.body, respelling)
    )
