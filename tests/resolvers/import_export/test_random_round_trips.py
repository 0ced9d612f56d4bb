"""Any wiki that is exported and imported again is the same wiki."""

from contextlib import suppress
from pathlib import Path
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db.database import Database
from db.scope import Scope
from resolvers.errors import BadInput, Conflict, NotFound
from resolvers.import_export.export_files import export_path
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.hierarchy import set_parent
from resolvers.pages.lifecycle import archive_page, create_page, update_page
from resolvers.pages.merging import merge_pages
from resolvers.sources.mentions import ignore_mention, record_mention
from tests.resolvers.import_export.exports import read_files
from tests.resolvers.import_export.vaults import import_counts, run_import
from tests.wiki import Wiki

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
ODD = st.sampled_from(
    [
        "Cafe",
        "cafe",
        "CAFE",
        "Caf\u00e9",
        "Cafe\u0301",
        "CON",
        "a/b",
        "..",
        "no",
        "1.10",
        "- x",
        "#x",
        "\u2028x",
        "x.md",
    ]
)
BODY = st.sampled_from(
    [
        "## A\n\nb\n\n## A\n\n[[c]]",
        "one\r\ntwo\r\n",
        "---\na: b\n---\n",
        "\ufeffmarked",
        "\n\n  \nx  \n",
        "e\u0301 \u00e9",
        "[[Cafe]] [[cafe|x]]",
    ]
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
async def test_any_wiki_is_imported_as_it_was_exported(wiki: Wiki, tmp_path: Path, data: st.DataObject) -> None:
    """The wiki is exported as a folder, a zip or JSON lines, with or without histories. Its pages may have names that
    differ only in case or normal form, and may be archived, renamed, linked or merged."""
    start = await wiki.neighbour()
    await fill_wiki(start, data)
    form = data.draw(st.sampled_from(["folder", "wiki.zip", "wiki.jsonl"]))
    first, second = (tmp_path / f"{start.scope.owner_id}-{n}-{form}" for n in (1, 2))
    has_history = data.draw(st.booleans())
    pages = (await export_path(start.database, start.scope, first, history=has_history)).pages
    assert import_counts(await run_import(start, first)) == (0, 0, pages, 0)
    copy = await start.neighbour()
    assert (await run_import(copy, first)).errors == ()
    assert import_counts(await run_import(copy, first)) == (0, 0, pages, 0)
    await export_path(copy.database, copy.scope, second, history=has_history)
    if form == "folder":
        assert read_files(second) == read_files(first)
    else:
        assert second.read_bytes() == first.read_bytes()


async def fill_wiki(start: Wiki, data: st.DataObject) -> None:
    here, ids = (start.database, start.scope), []
    for title in data.draw(st.lists((TEXT | ODD).filter(lambda title: title.strip()), min_size=1, max_size=4)):
        draft = PageDraft(
            type=data.draw(st.sampled_from(["entity", "topic"])),
            title=title,
            summary=data.draw(st.none() | TEXT),
            body=data.draw(TEXT | BODY | st.just("# " + title)),
            aliases=data.draw(st.lists(TEXT | ODD, max_size=2)),
            tags=data.draw(st.none() | st.lists(TEXT | ODD, max_size=2)),
            metadata=data.draw(st.dictionaries(TEXT | st.just("title"), TEXT | ODD, max_size=2)),
        )
        with suppress(BadInput, Conflict):
            ids.append((await create_page(*here, draft)).page_id)
    source = await start.add_source()
    for name in data.draw(st.lists((TEXT | ODD), max_size=3)):
        with suppress(BadInput):
            quote = data.draw(st.none() | TEXT)
            mention = await record_mention(*here, name=name, source_id=source, quote=quote)
            if data.draw(st.booleans()):
                await ignore_mention(*here, mention.mention_id)
    for change in data.draw(st.lists(st.sampled_from(["archive", "rename", "parent", "link", "merge"]), max_size=3)):
        page_id, other_id = (data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(ids))) if ids else (None, None)
        with suppress(BadInput, Conflict, NotFound):
            if page_id and other_id:
                await change_page(here, change, page_id, other_id)


async def change_page(here: tuple[Database, Scope], change: str, page_id: UUID, other_id: UUID) -> None:
    if change == "archive":
        await archive_page(*here, page_id)
    elif change == "rename":
        await update_page(*here, page_id, slug=f"renamed-{page_id.hex[-6:]}")
    elif change == "parent":
        await set_parent(*here, page_id, parent_id=other_id)
    elif change == "link":
        await link_pages(*here, page_id, other_id, reason="because")
    else:
        await merge_pages(*here, page_id, other_id)
