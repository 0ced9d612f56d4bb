"""What the texts of pages point at, and the links that follow from it.

A target always has the page that its words mean now. So the order in which pages were written does not matter, and a
link to a page that is not there yet heals when it comes.
"""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from content.links import Target
from db.ids import new_id
from db.sql import statements

from .hubness import refresh_hubness
from .page_names import Names
from .writer import Writer

TARGETS = statements("link_targets")
LINKS = statements("links")


async def write_targets(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> set[UUID]:
    """Store what the changed texts of pages point at; those that no longer point at something."""
    dropped = await writer.all(
        TARGETS["drop_targets"],
        changed=list(texts),
        page_ids=[page_id for page_id, targets in texts.items() for _ in targets],
        targets=[target.target for targets in texts.values() for target in targets],
    )
    await add_targets(writer, texts)
    return {row["from_page_id"] for row in dropped}


async def add_targets(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """What the texts of these pages point at besides what is known of them."""
    found = [(page_id, target) for page_id, targets in texts.items() for target in targets]
    if found:
        await writer.run(
            TARGETS["write_targets"],
            page_ids=[page_id for page_id, _ in found],
            targets=[t.target for _, t in found],
            spaces=[t.space for _, t in found],
            types=[t.type for _, t in found],
            slugs=[t.slug for _, t in found],
            aliases=[t.alias for _, t in found],
        )


async def resolve(writer: Writer, names: Names, page_ids: Sequence[UUID] = (), *, dropped: Iterable[UUID] = ()) -> None:
    """Find the pages of all targets that mean one of these names, and of those in the texts of some pages.

    The `dropped` are those that no longer point at something.
    """
    moved = await writer.all(
        TARGETS["resolve_targets"], page_ids=page_ids, slugs=sorted(names.slugs), aliases=sorted(names.aliases)
    )
    texts = {row["from_page_id"] for row in moved} | set(dropped)
    if texts:
        await follow(writer, texts)


async def follow(writer: Writer, page_ids: Iterable[UUID]) -> None:
    """Make the links of these texts what their targets say, and count again for the pages at the other end."""
    texts = sorted(page_ids)
    stale = await writer.all(TARGETS["drop_text_links"], page_ids=texts)
    missing = await writer.all(TARGETS["find_missing_text_links"], page_ids=texts)
    if missing:
        await writer.run(
            LINKS["write_links"],
            ids=[new_id() for _ in missing],
            from_page_ids=[row["from_page_id"] for row in missing],
            to_page_ids=[row["to_page_id"] for row in missing],
            kinds=["reference" for _ in missing],
            reason="text",
        )
    refresh_hubness(writer, [row["to_page_id"] for row in [*stale, *missing]])


async def forget_page(writer: Writer, page_id: UUID) -> Names:
    """Let go of a page that is about to be deleted: the names under which texts pointed at it."""
    rows = await writer.all(TARGETS["forget_page"], page_id=page_id)
    return Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows))


async def resolve_all(writer: Writer) -> None:
    """Find the pages of every target of the wiki again."""
    rows = await writer.all(TARGETS["find_all_names"])
    await resolve(writer, Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows)))
