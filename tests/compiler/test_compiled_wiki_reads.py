"""Hubs, backlinks, mentions and sources of a compiled wiki are read over HTTP."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.compiler.costs import default_compiler, run_jobs
from benchmarks.compiler.database import retain
from resolvers.sources.sources import SourceDraft
from tests.app.service import serving
from tests.wiki import Wiki

BEGAN = datetime(2026, 4, 1, 18, tzinfo=UTC)
DAYS = (
    ("Brisket at Franklin Barbecue with Priya Raman.", "Austin", "Franklin Barbecue"),
    ("Swam at Barton Springs Pool. Priya Raman timed the laps.", "Austin", "Barton Springs Pool"),
    ("Franklin Barbecue again, and the chef came to the table.", "Austin", "Franklin Barbecue"),
    ("Dinner at Taberna dos Mercadores. We asked for Chef João.", "Lisbon", "Taberna dos Mercadores"),
    ("Walked from Jardim da Estrela to Taberna dos Mercadores.", "Lisbon", "Jardim da Estrela"),
)
THIRD = ("At the market we met Chef João and carried his fish.", "Lisbon", "Taberna dos Mercadores")

HUBS = """query ($t: ID!) {
  wikiPages(tenantId: $t, orderBy: HUBNESS, first: 3) { nodes { title type hubnessScore } } }"""
WHOLE = """query ($t: ID!) {
  wikiPages(tenantId: $t, first: 15) { nodes {
    title backlinks(first: 20) { nodes { title } }
    sections { sectionSlug aggregation bodyMd citations(first: 10) { nodes { source { ref content } } } } } } }"""
MENTIONS = "query ($t: ID!) { wikiMentions(tenantId: $t, first: 50) { nodes { name status mentionCount } } }"


def note(day: int, visit: tuple[str, str, str]) -> SourceDraft:
    text, city, place = visit
    return SourceDraft(
        "daily_note",
        f"day-{day}",
        text,
        captured_at=BEGAN + timedelta(days=day),
        metadata={"city": city, "place": place},
    )


async def test_hubs_backlinks_mentions_and_sources_are_found_over_http(wiki: Wiki, tmp_path: Path) -> None:
    async with serving(wiki.database.dsn, tmp_path) as service:
        token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, wiki.scope.role)

        async def nodes(query: str) -> list[dict[str, Any]]:
            answer = await service.ask(query, token, t=str(wiki.scope.tenant_id))
            assert "errors" not in answer, answer
            (found,) = answer["data"].values()
            return list(found["nodes"])

        await retain(wiki.database, wiki.scope, [note(day, visit) for day, visit in enumerate(DAYS)])
        await run_jobs(wiki.database, default_compiler())
        mentions = {node["name"]: (node["status"], node["mentionCount"]) for node in await nodes(MENTIONS)}
        assert mentions["Chef João"] == ("OPEN", 1)
        assert "Chef João" not in {page["title"] for page in await nodes(WHOLE)}

        await retain(wiki.database, wiki.scope, [note(len(DAYS), THIRD)])
        await run_jobs(wiki.database, default_compiler())
        mentions = {node["name"]: (node["status"], node["mentionCount"]) for node in await nodes(MENTIONS)}
        assert mentions.get("Chef João", ("PROMOTED", 2))[0] == "PROMOTED"
        pages = {page["title"]: page for page in await nodes(WHOLE)}
        assert {"Austin", "Lisbon", "Franklin Barbecue", "Taberna dos Mercadores", "Chef João"} <= pages.keys()
        hubs = {page["title"] for page in await nodes(HUBS)}
        assert hubs & {"Austin", "Lisbon", "Franklin Barbecue", "Taberna dos Mercadores"}
        to_austin = {page["title"] for page in pages["Austin"]["backlinks"]["nodes"]}
        assert {"Franklin Barbecue", "Barton Springs Pool"} <= to_austin
        for page in pages.values():
            for section in (node for node in page["sections"] if node["aggregation"] is None):
                refs = {node["source"]["ref"] for node in section["citations"]["nodes"]}
                assert refs, (page["title"], section["sectionSlug"])
                assert any(f"[^{ref}]" in section["bodyMd"] for ref in refs)
        chef = {node["source"]["ref"] for node in pages["Chef João"]["sections"][0]["citations"]["nodes"]}
        assert chef <= {"day-3", "day-5"}
