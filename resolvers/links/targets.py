"""Targets are what pages point at, in their texts and in the headers of files that they were imported from. Links and
parents follow from them.

A target always has the page that its words mean now. So the order in which pages were written does not matter, and a
link to a page that is not there yet heals when it comes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from content.limits import TITLE
from content.markdown.links import Target
from db.connection import Row
from db.ids import new_id, numbered_ids
from db.scope import ActorKind
from db.sql import statements

from ..errors import BadInput
from ..model.names import Names, renew_names
from ..model.pages import find_page
from ..search.index import Findable, write_search
from ..transactions.writer import Writer, record
from .references import refresh_hubness

TARGETS = statements("links/targets")
LINKS = statements("links/links")
PAGES = statements("pages/pages")
TEXT, RELATED, PARENT, REDIRECT = "text", "related", "parent", "redirect"
IMPORTED = "import"


class NamedRelation(NamedTuple):
    """A page named in the header of a file: how it is related, the name as written, and the page that is meant by it.

    A name of text targets has no space in it, so `related: Barton Springs` is never the key of one.
    """

    page_id: UUID
    relation: str
    name: str
    type: str | None
    slug: str
    alias: str

    @property
    def target(self) -> str:
        return f"{self.relation}: {self.name}"


class PrivateLink(BadInput):
    """A page of a shared space links into the wiki of a user or an agent: its readers would see different pages."""

    code = "PRIVATE_LINK"


async def refuse_private_links(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """Raise PrivateLink for a new link of a shared page into a private wiki. Texts without such links cost nothing.

    What compilers write of sources and what is imported is kept, and lint tells of it: a batch has no one to ask.
    """
    found = [(page_id, target) for page_id, targets in texts.items() for target in targets if target.space]
    if not found or writer.gathered is not None or writer.scope.actor.kind is ActorKind.COMPILER:
        return
    target = await writer.value(
        TARGETS["find_private_link"],
        page_ids=[page_id for page_id, _ in found],
        targets=[target.target for _, target in found],
        spaces=[target.space for _, target in found],
        spans=writer.scope.spans_tenant,
        owners=list(writer.scope.owners),
    )
    if target is not None:
        raise PrivateLink(
            f"[[{target}]] leads from a shared space into a private wiki. Link to a shared page, or say it in words.",
            "bodyMd",
        )


async def write_targets(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """Store what the changed texts of pages point at."""
    await writer.later(
        TARGETS["drop_targets"],
        changed=list(texts),
        page_ids=[page_id for page_id, targets in texts.items() for _ in targets],
        targets=[target.target for targets in texts.values() for target in targets],
    )
    await add_targets(writer, texts)


async def add_targets(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """Store what the texts of these pages point at besides the targets that are known already."""
    found = [(page_id, target) for page_id, targets in texts.items() for target in targets]
    if found:
        await writer.later(
            TARGETS["write_targets"],
            page_ids=[page_id for page_id, _ in found],
            targets=[t.target for _, t in found],
            spaces=[t.space for _, t in found],
            types=[t.type for _, t in found],
            slugs=[t.slug for _, t in found],
            aliases=[t.alias for _, t in found],
            texts=[t.text[: TITLE.most] for _, t in found],
            sections=[" ".join(t.sections) for _, t in found],
        )


async def write_relations(writer: Writer, page_ids: Sequence[UUID], relations: Sequence[NamedRelation]) -> set[UUID]:
    """Store all that the files of these pages name, found or not; the pages that are tied to others by it."""
    keys = {"page_ids": [one.page_id for one in relations], "targets": [one.target for one in relations]}
    await writer.run(TARGETS["drop_relations"], changed=page_ids, **keys)
    if not relations:
        return set()
    unique = list({(one.page_id, one.target): one for one in relations}.values())
    written = await writer.all(
        TARGETS["write_relations"],
        page_ids=[one.page_id for one in unique],
        targets=[one.target for one in unique],
        types=[one.type for one in unique],
        slugs=[one.slug for one in unique],
        aliases=[one.alias for one in unique],
        relations=[one.relation for one in unique],
    )
    if not written:
        return set()
    return await resolve(writer, Names(), sorted({one.page_id for one in unique}))


async def write_redirect(
    writer: Writer, slug: str, path: str, target: str, type: str | None, target_slug: str, target_alias: str
) -> None:
    """Remember a slug that leads to a page which is not there yet."""
    await writer.run(
        TARGETS["write_redirect"],
        slug=slug, path=path, target=target, type=type, target_slug=target_slug, target_alias=target_alias,
    )  # fmt: skip
    await resolve(writer, Names(frozenset({target_slug}), frozenset({target_alias})))


async def drop_related(writer: Writer, from_page_id: UUID, to_page_id: UUID) -> None:
    """Forget what the file of a page says of another, because a person decided otherwise."""
    await writer.run(TARGETS["drop_related"], from_page_id=from_page_id, to_page_id=to_page_id)


async def resolve(
    writer: Writer, names: Names, page_ids: Sequence[UUID] = (), *, changed: Iterable[UUID] = ()
) -> set[UUID]:
    """Find the pages of all targets that mean one of these names, and of those of some pages.

    The links of texts that point elsewhere now follow, and the pages at their other ends are counted again. The
    `changed` are texts that may no longer point at something. Answers the pages that are related to others by it.
    """
    id_start, id_number = numbered_ids()
    rows = await writer.all(
        TARGETS["resolve_targets"],
        page_ids=page_ids,
        slugs=sorted(names.slugs),
        aliases=sorted(names.aliases),
        changed=list(changed),
        id_start=id_start,
        id_number=id_number,
    )
    by_relation: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_relation[row["relation"]].append(row)
    refresh_hubness(writer, [row["now_id"] for row in by_relation[TEXT]])
    tied = await relate(writer, by_relation[RELATED]) if by_relation[RELATED] else set()
    if by_relation[PARENT]:
        tied |= await set_parents(writer, by_relation[PARENT])
    if leading := {row["target"]: row["now_id"] for row in by_relation[REDIRECT] if row["now_id"]}:
        await redirect(writer, leading)
    return tied


async def relate(writer: Writer, moved: Sequence[Row]) -> set[UUID]:
    """Write references for what files call related, to the pages meant now; return the pages that got one."""
    left = [row for row in moved if row["before_id"]]
    if left:
        stale = await writer.all(
            TARGETS["loosen_relations"],
            page_ids=[row["from_page_id"] for row in left],
            to_page_ids=[row["before_id"] for row in left],
        )
        refresh_hubness(writer, [row["to_page_id"] for row in stale])
    pairs = sorted({(row["from_page_id"], row["now_id"]) for row in moved if row["now_id"]})
    standing = await writer.all(
        LINKS["find_standing"], from_page_ids=[start for start, _ in pairs], to_page_ids=[end for _, end in pairs]
    )
    known = {(row["from_page_id"], row["to_page_id"]) for row in standing if IMPORTED in row["reasons"]}
    new = [(start, end) for start, end in pairs if start != end and (start, end) not in known]
    if new:
        await writer.run(
            LINKS["write_links"],
            ids=[new_id() for _ in new],
            from_page_ids=[start for start, _ in new],
            to_page_ids=[end for _, end in new],
            kinds=["reference" for _ in new],
            reason=IMPORTED,
        )
    for start, end in new:
        writer.touched.add(start)
        await record(writer, "link.added", start, toPageId=end, reasons=[IMPORTED])
    refresh_hubness(writer, [end for _, end in new])
    return {start for start, _ in new}


async def set_parents(writer: Writer, moved: Sequence[Row]) -> set[UUID]:
    """Set the parents that files name, for pages whose parent nobody has set; return the pages that moved."""
    left = [row for row in moved if row["before_id"]]
    gone = await writer.all(
        TARGETS["unhang_pages"],
        page_ids=[row["from_page_id"] for row in left],
        parent_ids=[row["before_id"] for row in left],
    ) if left else []  # fmt: skip
    for row in gone:
        await writer.run(LINKS["delete_mirrors"], page_id=row["id"], parent_id=row["parent_id"])
    below: dict[UUID, list[UUID]] = defaultdict(list)
    for row in moved:
        if row["now_id"] and row["now_id"] != row["from_page_id"]:
            below[row["now_id"]].append(row["from_page_id"])
    hung: dict[UUID, UUID] = {}
    for parent_id, page_ids in below.items():
        rows = await writer.all(TARGETS["hang_pages"], parent_id=parent_id, page_ids=page_ids)
        hung |= {row["id"]: parent_id for row in rows}
    if hung:
        await writer.run(
            LINKS["write_links"],
            ids=[new_id() for _ in range(2 * len(hung))],
            from_page_ids=[*hung.values(), *hung],
            to_page_ids=[*hung, *hung.values()],
            kinds=[*("parent_of" for _ in hung), *("child_of" for _ in hung)],
            reason="hierarchy",
        )
    for page_id, former_id in {row["id"]: row["parent_id"] for row in gone}.items():
        if page_id not in hung:
            await record(writer, "page.moved", page_id, parentId=None, formerParentId=former_id)
    writer.touched.update(hung)
    for page_id, parent_id in hung.items():
        await record(writer, "page.moved", page_id, parentId=parent_id, formerParentId=None)
    refresh_hubness(writer, [*hung.values(), *(row["parent_id"] for row in gone)])
    return set(hung)


async def redirect(writer: Writer, leading: Mapping[str, UUID]) -> None:
    """Let slugs that led nowhere lead to the pages that are there now, unless a page has or had them."""
    await writer.run(TARGETS["drop_redirects"], slugs=list(leading))
    for slug, page_id in leading.items():
        page = await find_page(writer, page_id)
        assert page is not None, "the statement before has found it"
        kept = await writer.all(PAGES["keep_slugs"], types=[page.type], slugs=[slug], page_ids=[page.id])
        if kept:
            names = await renew_names(writer, page)
            await write_search(writer, Findable(page, names))
            await record(writer, "page.updated", page.id, version=page.version)
            await resolve(writer, Names(frozenset({slug})))


async def forget_page(writer: Writer, page_id: UUID) -> Names:
    """Let go of a page that is about to be deleted: the names under which texts pointed at it."""
    rows = await writer.all(TARGETS["forget_page"], page_id=page_id)
    return Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows))


async def resolve_all(writer: Writer) -> None:
    """Find the pages of every target of the wiki again."""
    rows = await writer.all(TARGETS["find_all_names"])
    await resolve(writer, Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows)))
