"""Tests that an import that is killed and started again has the same result as an undisturbed import."""

import asyncio
import os
from pathlib import Path
from random import Random
from time import monotonic, sleep

import orjson

from resolvers.import_export.export_files import export_path
from resolvers.links.links import link_pages
from resolvers.model.drafts import PageDraft
from resolvers.pages.aliases import add_alias
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from tests.app.command_line import run_in_this_process
from tests.examples import is_nightly
from tests.forked import start_command, stop_process
from tests.wiki import Wiki, check_derived_rows

PAGES = 100
FORMS = ("folder", "wiki.zip", "wiki.jsonl", *(("folder", "wiki.zip") if is_nightly() else ()))
WRITES = ("pages", "sources", "links", "section_sources", "mentions", "revisions")


async def fill_wiki(wiki: Wiki) -> None:
    """Create pages with sources, aliases, links and earlier versions, and mentions."""
    here, before = (wiki.database, wiki.scope), None
    for n in range(PAGES):
        body = f"## Notes\n\nOf {n}, after [[Page {n - 1}]]."
        page = (await create_page(*here, PageDraft("topic", f"Page {n}", body=body))).page_id
        source = (await add_source(*here, SourceDraft("document", f"doc-{n}", f"Doc {n}."))).source_id
        await cite_source(*here, page_id=page, section_slug="notes", source_id=source)
        await add_alias(*here, page, name=f"Another {n}")
        if n % 2:
            await update_page(*here, page, body=f"{body} Anew.", edit_summary="Anew")
            await record_mention(*here, name=f"Name {n % 7}", source_id=source, quote="So")
        if before:
            await link_pages(*here, page, before, reason="planner")
        before = page


async def test_a_killed_import_continues_where_it_stopped(wiki: Wiki, dsn: str, tmp_path: Path) -> None:
    await fill_wiki(wiki)
    for form in sorted(set(FORMS)):
        await export_path(wiki.database, wiki.scope, tmp_path / form, history=True)
    copy, seeded = await wiki.neighbour(), Random(11)
    command = ["import", "--tenant", str(copy.scope.tenant_id), "--owner", str(copy.scope.owner_id), "--json"]
    settings, log, killed = {"PATH": os.environ["PATH"], "CAIRN_DATABASE_URL": dsn}, tmp_path / "log", 0
    for form in FORMS:
        process = start_command([*command, str(tmp_path / form)], settings, log)
        threshold = await rows(copy) + seeded.randrange(1, 120)
        until = monotonic() + 60
        while process.is_alive() and await rows(copy) < threshold and monotonic() < until:
            sleep(0.002)
        killed += stop_process(process) < 0
    assert killed >= 2
    result = await asyncio.to_thread(
        run_in_this_process, tmp_path, *command, str(tmp_path / "wiki.zip"), database_url=dsn
    )
    report = orjson.loads(result.out)
    assert (result.code, report["errors"]) == (0, [])
    assert report["created"] + report["changed"] + report["unchanged"] == PAGES
    await check_derived_rows(copy)
    await export_path(copy.database, copy.scope, tmp_path / "again.zip", history=True)
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "wiki.zip").read_bytes()


async def rows(wiki: Wiki) -> int:
    """Return how many rows of the import are stored so far."""
    return sum([len(await wiki.rows(table, "1")) for table in WRITES])
