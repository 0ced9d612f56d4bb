"""Forgetting reaches revisions that an import or a transfer brought into the wiki, which are older than the source."""

from pathlib import Path

from resolvers.import_export.export_files import export_path
from resolvers.pages.lifecycle import update_page
from resolvers.pages.transferring import transfer_page
from resolvers.sources.sources import forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, pages_by_title, retain_texts
from tests.resolvers.import_export.vaults import run_import
from tests.wiki import Wiki

WORD = "Zyxglorb"
SAID = f"The {WORD} opens at nine on Sundays."


async def write_quoted_page(wiki: Wiki) -> None:
    """Compile a page days ago of which only an earlier revision quotes the source `day-0`."""
    await retain_texts(wiki, f"page entity Momofuku\n{SAID}", "to entity Momofuku\nWe went twice.")
    await compile_all(wiki)
    page = (await pages_by_title(wiki))["Momofuku"]
    await update_page(wiki.database, wiki.scope, page["id"], body="## Overview\n\nWe went.\n\n## Mine\n\nI like it.")
    await wiki.connection.execute("UPDATE revisions SET created_at = created_at - interval '3 days'")


async def forget_first(wiki: Wiki) -> None:
    (source,) = await wiki.rows("sources", ref="day-0")
    await forget_source(wiki.database, wiki.scope, source["id"])
    await compile_all(wiki)


async def test_imported_revisions_that_quote_a_forgotten_source_are_erased(wiki: Wiki, tmp_path: Path) -> None:
    await write_quoted_page(wiki)
    await export_path(wiki.database, wiki.scope, tmp_path / "export", history=True)
    await forget_first(wiki)
    copy = await wiki.neighbour()
    assert (await run_import(copy, tmp_path / "export")).errors == ()
    assert "revisions.body_md" in await found_in(copy, WORD)
    await forget_first(copy)
    assert not await found_in(copy, WORD)
    page = (await pages_by_title(copy))["Momofuku"]
    assert page["body_md"] == "## Overview\n\n- We went twice.\n\n## Mine\n\nI like it."


async def test_transferred_revisions_that_quote_a_forgotten_source_are_erased(wiki: Wiki) -> None:
    await write_quoted_page(wiki)
    other = await wiki.neighbour()
    page = (await pages_by_title(wiki))["Momofuku"]
    await transfer_page(wiki.database, wiki.scope, page["id"], str(other.scope.owner_id))
    await forget_first(wiki)
    assert "revisions.body_md" in await found_in(wiki, WORD)
    await forget_first(other)
    assert not await found_in(wiki, WORD)
