"""The relations that a note has besides its text: its parent page, related pages, and cited sources."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from content.claims.claims import digest
from content.limits import CLAIM
from content.markdown.citations import CitationMark, ClaimMark, ContradictionMark
from content.names import NoSlug, normalise, slugify
from content.notes.notes import Note
from content.templates import TEMPLATES
from db.connection import Row
from db.database import Database
from db.ids import new_id
from db.scope import Scope
from db.sql import statements

from ..errors import BadInput, Conflict, NotFound
from ..links.links import link_pages
from ..links.targets import PARENT, RELATED, NamedRelation, write_redirect, write_relations
from ..model.names import title_slug
from ..pages.claims.claims import write_claims
from ..pages.claims.contradictions import digest as contradiction_digest
from ..pages.claims.contradictions import write_contradictions
from ..pages.hierarchy import set_parent
from ..pages.lifecycle import add_former_slugs
from ..permissions import Withheld
from ..sources.sources import cite_source
from ..transactions.transaction import writing
from .citations import Cited, SourceIds, as_kept, find_cited, find_sources
from .names import Vault
from .notes import ImportProblem
from .places import PlacedNote
from .results import problem, unresolved

IMPORTS = statements("import_export/imports")
REASON = "import"
EXACT = "/wiki/"


class RelationChange(Protocol):
    @property
    def changed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class NoteWithPage:
    """A note that was saved as a page."""

    placed: PlacedNote
    note: Note
    page_id: UUID


@dataclass(frozen=True, slots=True)
class RelationResult:
    """The result of relating one note: whether its page changed, the problems, and the names without a page yet."""

    changed: bool
    problems: list[ImportProblem]
    broken: list[ImportProblem]


class RelationWriter:
    """Writes the relations of the pages of one import: parents, related pages, citations, claims and redirects."""

    def __init__(self, database: Database, scope: Scope, vault: Vault) -> None:
        self.database, self.scope, self.vault, self.sources = database, scope, vault, SourceIds(())
        self.named: dict[str, UUID] = {}
        self.before: dict[UUID, Row] = {}
        self.cited: dict[tuple[UUID, str, UUID], Cited] = {}

    async def prepare(self, notes: Sequence[NoteWithPage]) -> None:
        """Load the pages that these notes name, and the relations and citations that their pages have already."""
        names = {name for note in notes for _, name in self.named_relations(note)}
        names.update(note.note.merged_into for note in notes if note.note.merged_into)
        self.named = await find_named(self.database, self.scope, sorted(names))
        page_ids = [note.page_id for note in notes]
        async with self.database.connection() as connection:
            rows = await connection.all(IMPORTS["find_ties"], **self.scope.wiki_values, page_ids=page_ids)
        self.before = {row["id"]: row for row in rows}
        self.cited = await find_cited(self.database, self.scope, [n.page_id for n in notes if n.note.sources])
        self.sources = await find_sources(self.database, self.scope, [note.note for note in notes])

    async def relate(self, note: NoteWithPage) -> RelationResult:
        changed, problems = False, []
        for change in self.missing_changes(note):
            try:
                changed = (await change()).changed or changed
            except (BadInput, Conflict, NotFound, Withheld) as error:
                problems.append(problem(note.placed.label, error))
        broken = [
            unresolved(note.placed.label, relation, name)
            for relation, name in self.named_relations(note)
            if self.find(name, note) is None
        ]
        return RelationResult(changed, problems, broken)

    def named_relations(self, note: NoteWithPage) -> list[tuple[str, str]]:
        """Return the relations to other pages that a note has: the kind and the name of each."""
        parent = self.parent(note)
        return [*([(PARENT, parent)] if parent else []), *((RELATED, name) for name in note.note.links)]

    def parent(self, note: NoteWithPage) -> str | None:
        """Return the name of the parent page, from the note or from the folder of its file."""
        return note.note.parent or self.vault.parent(note.placed)

    async def store_related(self, notes: Sequence[NoteWithPage]) -> set[UUID]:
        """Store all relations of the notes and link the pages that exist; return the ids of the pages that changed."""
        relations = [relation for note in notes for relation in self.relations(note)]
        page_ids = [note.page_id for note in notes]
        if not relations and not any(self.before[page_id]["is_related"] for page_id in page_ids):
            return set()
        async with writing(self.database, self.scope) as writer:
            return await write_relations(writer, page_ids, relations)

    async def propose_links(self, note: NoteWithPage) -> list[ImportProblem]:
        """Link the pages that a note names one by one, as each is a proposal where links are reviewed.

        Return a problem for each link that was proposed or refused.
        """
        problems: list[ImportProblem] = []
        standing = self.before[note.page_id]["linked"] or {}
        for other, reasons in self.related_pages(note).items():
            if REASON in reasons and REASON not in standing.get(str(other), ()):
                try:
                    await link_pages(self.database, self.scope, note.page_id, other, reason=REASON, restored=True)
                except (BadInput, Conflict, NotFound) as error:
                    problems.append(problem(note.placed.label, error))
        return problems

    def relations(self, note: NoteWithPage) -> Iterator[NamedRelation]:
        """Yield the relations of a note, except existing related pages for which an export gives only other reasons."""
        for relation, name in self.named_relations(note):
            reasons = note.note.reasons.get(name, (REASON,)) if relation == RELATED else (REASON,)
            if REASON in reasons or self.find(name, note) is None:
                meant = None if name.startswith(EXACT) else self.vault.find(name, note.placed)
                type, slug, alias = (meant.type, meant.slug, normalise(meant.slug)) if meant else address(name)
                yield NamedRelation(note.page_id, relation, name, type, slug, alias)

    async def store_claims(self, notes: Sequence[NoteWithPage]) -> None:
        """Store the superseded claims and the contradictions of the notes; those that a page has already stay."""
        rows = [
            self.claim(note, claim)
            for note in notes
            for claim in note.note.superseded
            if fits(claim.fact, claim.replacement)
        ]
        contradictions = [
            self.contradiction(note, contradiction)
            for note in notes
            for contradiction in note.note.contradictions
            if fits(contradiction.older.claim, contradiction.newer.claim, contradiction.reason or "")
        ]
        if rows or contradictions:
            async with writing(self.database, self.scope) as writer:
                if rows:
                    await write_claims(writer, rows)
                if contradictions:
                    await write_contradictions(writer, contradictions)

    async def store_merges(self, notes: Sequence[NoteWithPage]) -> None:
        """Store which pages the archived pages were merged into, and which pages were restored after a merge."""
        found = {
            note.page_id: into
            for note in notes
            if note.note.status == "archived" and note.note.merged_into
            if (into := self.find(note.note.merged_into, note)) and into != note.page_id
        }
        back = [note.page_id for note in notes if note.note.was_merged]
        if found or back:
            async with writing(self.database, self.scope) as writer:
                await writer.later(IMPORTS["write_merged"], page_ids=list(found), into_ids=list(found.values()))
                await writer.later(IMPORTS["mark_merged"], page_ids=back)

    def contradiction(self, note: NoteWithPage, mark: ContradictionMark) -> dict[str, Any]:
        """Return the row of a contradiction of a page."""
        row: dict[str, Any] = {
            "id": new_id(),
            "page_id": note.page_id,
            "digest": contradiction_digest(mark.older.claim, mark.newer.claim),
            "resolution": mark.resolution,
            "reason": mark.reason,
            "resolved_at": mark.resolved_at,
        }
        for name, side in (("older", mark.older), ("newer", mark.newer)):
            row |= {
                f"{name}_claim": side.claim,
                f"{name}_section_slug": side.section,
                f"{name}_source_id": side.source and self.sources.find(CitationMark(side.source[1], side.source[0])),
                f"{name}_on": side.on,
                f"{name}_support": side.support,
            }
        return row

    def claim(self, note: NoteWithPage, mark: ClaimMark) -> dict[str, Any]:
        """Return the row of a superseded claim of a page."""
        stated, overriding = (
            source and self.sources.find(CitationMark(source[1], source[0]))
            for source in (mark.stated_by, mark.overridden_by)
        )
        return {
            "id": new_id(),
            "page_id": note.page_id,
            "section_slug": mark.section,
            "heading": mark.heading,
            "fact": mark.fact,
            "replacement": mark.replacement,
            "stated_by_id": stated,
            "overridden_by_id": overriding,
            "superseded_on": mark.superseded_on,
            "digest": digest(mark.fact, *(mark.overridden_by or ("", ""))),
        }

    async def store_dates(self, notes: Sequence[NoteWithPage]) -> None:
        """Set the dates of the pages to those of their files, unless the pages were changed since."""
        dated = [note for note in notes if note.note.created or note.note.updated]
        if dated:
            async with writing(self.database, self.scope) as writer:
                await writer.run(
                    IMPORTS["keep_dates"],
                    page_ids=[note.page_id for note in dated],
                    created=[note.note.created for note in dated],
                    updated=[note.note.updated for note in dated],
                )

    async def redirect(self, label: str, stub: Note) -> RelationResult | None:
        """Add the slug of a stub to the former slugs of its target page; return None if there is no such page."""
        name = stub.redirect_to or ""
        page_id = (await find_named(self.database, self.scope, [name])).get(name)
        if page_id is None:
            return None
        try:
            slug = stub.slug or title_slug(stub.title)
            saved = await add_former_slugs(self.database, self.scope, page_id, [slug])
        except (BadInput, NotFound, Withheld) as error:
            return RelationResult(False, [problem(label, error)], [])
        return RelationResult(saved.changed, [], [])

    async def remember_redirect(self, label: str, stub: Note) -> RelationResult:
        """Store the redirect of a stub for a page that does not exist yet."""
        name = stub.redirect_to or ""
        try:
            slug = stub.slug or title_slug(stub.title)
        except BadInput as error:
            return RelationResult(False, [problem(label, error)], [])
        async with writing(self.database, self.scope) as writer:
            await write_redirect(writer, slug, label, name, *address(name))
        return RelationResult(False, [], [unresolved(label, "redirectTo", name)])

    def missing_changes(self, note: NoteWithPage) -> Iterator[Callable[[], Awaitable[RelationChange]]]:
        """Yield the calls that add the relations and citations of the note that its page lacks."""
        page_id, here = note.page_id, (self.database, self.scope)
        before, parent = self.before[page_id], self.parent(note)
        parent_id = self.find(parent, note) if parent else None
        if parent_id and parent_id != before["parent_page_id"]:
            yield partial(set_parent, *here, page_id, parent_id=parent_id)
        standing = before["linked"] or {}
        for other, reasons in self.related_pages(note).items():
            for reason in sorted(reasons.difference([REASON], standing.get(str(other), ()))):
                yield partial(link_pages, *here, page_id, other, reason=reason, restored=True)
        for (section, source_id), citation in self.sources.find_citations(note.note).items():
            if self.cited.get((page_id, section, source_id)) == as_kept(citation):
                continue
            yield partial(
                cite_source, *here, page_id=page_id, section_slug=section, source_id=source_id,
                line_start=citation.line_start, line_end=citation.line_end, summary=citation.summary,
                restored=True,
            )  # fmt: skip

    def related_pages(self, note: NoteWithPage) -> dict[UUID, set[str]]:
        """Return the pages that the note is related to, with the reasons: those that it gives, or the import itself."""
        found: dict[UUID, set[str]] = {}
        for name in note.note.links:
            other = self.find(name, note)
            if other and other != note.page_id:
                reasons = map(self.sources.reason, note.note.reasons.get(name, (REASON,)))
                found.setdefault(other, set()).update(filter(None, reasons))
        return found

    def find(self, name: str, note: NoteWithPage) -> UUID | None:
        """Return the page that a name refers to: that of a file of the folder, else a page of the wiki."""
        meant = None if name.startswith(EXACT) else self.vault.find(name, note.placed)
        return meant.page_id if meant else self.named.get(name)


def fits(*texts: str) -> bool:
    """Return whether the texts of a claim can be stored."""
    return all(len(text) <= CLAIM.limit(restored=True) for text in texts)


async def find_named(database: Database, scope: Scope, names: Sequence[str]) -> dict[str, UUID]:
    """Return the id of the page of each name that has one."""
    parsed = [(name, *address(name)) for name in names]
    async with database.connection() as connection:
        rows = await connection.all(
            IMPORTS["find_named"],
            **scope.wiki_values,
            types=[type for _, type, _, _ in parsed],
            slugs=[slug for _, _, slug, _ in parsed],
            aliases=[alias for _, _, _, alias in parsed],
            exact=[name.startswith(EXACT) for name in names],
        )
    return {names[row["n"] - 1]: row["id"] for row in rows}


def address(name: str) -> tuple[str | None, str, str]:
    """Return the type, slug and alias in a name: `/wiki/topic/austin`, `topic/austin`, `austin` or `Austin, Texas`.

    The type is None if the name has none.
    """
    type, slash, rest = name.removeprefix(EXACT).partition("/")
    typed = bool(slash) and type in TEMPLATES
    bare = (rest if typed else name.rpartition("/")[2]).removesuffix(".md").strip()
    try:
        slug = slugify(bare)
    except NoSlug:
        slug = ""
    return (type if typed else None), slug, normalise(bare)
