"""Resolve targets: the names by which pages refer to others, in their texts or in the headers of imported files.

Links and parents follow from the resolved targets. Targets are resolved again whenever a name changes, so the order in
which pages are written does not matter: a link to a page that does not exist yet works as soon as it is created.
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
from ..model.names import Names, rewrite_names
from ..model.pages import find_page
from ..search.index import SearchEntry, index_pages
from ..transactions.writer import Writer, record, record_consequence
from .references import refresh_hubness

TARGETS = statements("links/targets")
LINKS = statements("links/links")
PAGES = statements("pages/pages")
TEXT, RELATED, PARENT, REDIRECT = "text", "related", "parent", "redirect"
IMPORTED = "import"


class NamedRelation(NamedTuple):
    """A relation to another page in the header of a file: its kind, the name as written, and the name to resolve."""

    page_id: UUID
    relation: str
    name: str
    type: str | None
    slug: str
    alias: str

    @property
    def target(self) -> str:
        """Return the key of the target, such as `related: Barton Springs`. Keys of targets in texts have no space."""
        return f"{self.relation}: {self.name}"


class PrivateLink(BadInput):
    """A page of a shared space links into the private wiki of a user or agent. Not all readers may follow the link."""

    code = "PRIVATE_LINK"


async def refuse_private_links(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """Raise PrivateLink for a new link of a shared page into a private wiki.

    Runs no statement for texts without links to other wikis. Links that the compiler writes, or a transaction that
    indexes its pages together, such as a merge, are accepted, because nobody could correct them; lint reports them.
    New pages of an import are not checked either: `create` does not call this with `later`.
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
    """Replace the targets of the changed texts of pages."""
    await writer.later(
        TARGETS["drop_targets"],
        changed=list(texts),
        page_ids=[page_id for page_id, targets in texts.items() for _ in targets],
        targets=[target.target for targets in texts.values() for target in targets],
    )
    await add_targets(writer, texts)


async def add_targets(writer: Writer, texts: Mapping[UUID, Sequence[Target]]) -> None:
    """Store the targets of the texts of pages, and keep the ones that are stored already."""
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
            texts=[t.text[: TITLE.maximum] for _, t in found],
            sections=[" ".join(t.sections) for _, t in found],
        )


async def write_relations(writer: Writer, page_ids: Sequence[UUID], relations: Sequence[NamedRelation]) -> set[UUID]:
    """Store the relations in the files of these pages, whether or not their pages exist.

    Return the pages that got a link or a parent by it.
    """
    keys = {"page_ids": [named.page_id for named in relations], "targets": [named.target for named in relations]}
    await writer.run(TARGETS["drop_relations"], changed=page_ids, **keys)
    if not relations:
        return set()
    unique = list({(named.page_id, named.target): named for named in relations}.values())
    written = await writer.all(
        TARGETS["write_relations"],
        page_ids=[named.page_id for named in unique],
        targets=[named.target for named in unique],
        types=[named.type for named in unique],
        slugs=[named.slug for named in unique],
        aliases=[named.alias for named in unique],
        relations=[named.relation for named in unique],
    )
    if not written:
        return set()
    return await resolve(writer, Names(), sorted({named.page_id for named in unique}))


async def write_redirect(
    writer: Writer, slug: str, path: str, target: str, type: str | None, target_slug: str, target_alias: str
) -> None:
    """Store a slug that redirects to a page which may not exist yet, and redirect it if the page exists."""
    await writer.run(
        TARGETS["write_redirect"],
        slug=slug, path=path, target=target, type=type, target_slug=target_slug, target_alias=target_alias,
    )  # fmt: skip
    await resolve(writer, Names(frozenset({target_slug}), frozenset({target_alias})))


async def resolve(
    writer: Writer, names: Names, page_ids: Sequence[UUID] = (), *, changed: Iterable[UUID] = ()
) -> set[UUID]:
    """Resolve all targets that have one of these names, and all targets of the pages `page_ids`.

    Updates the links of the texts, the hubness scores of the pages that they link to, and the links and parents that
    follow from relations in files. The texts of the pages `changed` may have lost links. Returns the pages that got a
    link or a parent from a relation.
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
    tied = await update_references(writer, by_relation[RELATED]) if by_relation[RELATED] else set()
    if by_relation[PARENT]:
        tied |= await set_parents(writer, by_relation[PARENT])
    if found_pages := {row["target"]: row["now_id"] for row in by_relation[REDIRECT] if row["now_id"]}:
        await resolve_redirects(writer, found_pages)
    return tied


async def update_references(writer: Writer, moved: Sequence[Row]) -> set[UUID]:
    """Update the references for relations `related` in files whose page has changed. Return the pages that got one."""
    left = [row for row in moved if row["before_id"]]
    if left:
        stale = await writer.all(
            TARGETS["drop_import_reasons"],
            page_ids=[row["from_page_id"] for row in left],
            to_page_ids=[row["before_id"] for row in left],
        )
        refresh_hubness(writer, [row["to_page_id"] for row in stale])
    pairs = sorted({(row["from_page_id"], row["now_id"]) for row in moved if row["now_id"]})
    existing = await writer.all(
        LINKS["find_existing"], from_page_ids=[start for start, _ in pairs], to_page_ids=[end for _, end in pairs]
    )
    known = {(row["from_page_id"], row["to_page_id"]) for row in existing if IMPORTED in row["reasons"]}
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
        await record_consequence(writer, "link.added", start, toPageId=end, reasons=[IMPORTED])
    refresh_hubness(writer, [end for _, end in new])
    return {start for start, _ in new}


async def set_parents(writer: Writer, moved: Sequence[Row]) -> set[UUID]:
    """Set the parents that files name, for pages whose parent nobody has set. Return the pages that got a parent."""
    left = [row for row in moved if row["before_id"]]
    gone = await writer.all(
        TARGETS["clear_named_parents"],
        page_ids=[row["from_page_id"] for row in left],
        parent_ids=[row["before_id"] for row in left],
    ) if left else []  # fmt: skip
    for row in gone:
        await writer.run(LINKS["delete_mirrors"], page_id=row["id"], parent_id=row["parent_id"])
    below: dict[UUID, list[UUID]] = defaultdict(list)
    for row in moved:
        if row["now_id"] and row["now_id"] != row["from_page_id"]:
            below[row["now_id"]].append(row["from_page_id"])
    parented: dict[UUID, UUID] = {}
    for parent_id, page_ids in below.items():
        rows = await writer.all(TARGETS["set_named_parents"], parent_id=parent_id, page_ids=page_ids)
        parented |= {row["id"]: parent_id for row in rows}
    if parented:
        await writer.run(
            LINKS["write_links"],
            ids=[new_id() for _ in range(2 * len(parented))],
            from_page_ids=[*parented.values(), *parented],
            to_page_ids=[*parented, *parented.values()],
            kinds=[*("parent_of" for _ in parented), *("child_of" for _ in parented)],
            reason="hierarchy",
        )
    for page_id, former_id in {row["id"]: row["parent_id"] for row in gone}.items():
        if page_id not in parented:
            await record_consequence(writer, "page.moved", page_id, parentId=None, formerParentId=former_id)
    writer.touched.update(parented)
    for page_id, parent_id in parented.items():
        await record_consequence(writer, "page.moved", page_id, parentId=parent_id, formerParentId=None)
    refresh_hubness(writer, [*parented.values(), *(row["parent_id"] for row in gone)])
    return set(parented)


async def resolve_redirects(writer: Writer, found_pages: Mapping[str, UUID]) -> None:
    """Make the slugs of redirects former slugs of the pages that they lead to, unless a page has or had them."""
    await writer.run(TARGETS["drop_redirects"], slugs=list(found_pages))
    for slug, page_id in found_pages.items():
        page = await find_page(writer, page_id)
        assert page is not None, "resolve_targets has found it"
        redirected = await writer.all(PAGES["keep_slugs"], types=[page.type], slugs=[slug], page_ids=[page.id])
        if redirected:
            names = await rewrite_names(writer, page)
            await index_pages(writer, SearchEntry(page, names))
            await record(writer, "page.updated", page.id, version=page.version)
            await resolve(writer, Names(frozenset({slug})))


async def detach_targets(writer: Writer, page_id: UUID) -> Names:
    """Detach the targets of a page that is about to be deleted. Return the names that they use."""
    rows = await writer.all(TARGETS["detach_page"], page_id=page_id)
    return Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows))


async def resolve_all(writer: Writer) -> None:
    """Resolve all targets of the wiki again."""
    rows = await writer.all(TARGETS["find_all_names"])
    await resolve(writer, Names(frozenset(row["slug"] for row in rows), frozenset(row["alias"] for row in rows)))
