"""Grounding and confidence of pages, computed when they are compiled, edited and cited."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import pytest

from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from resolvers.pages.edits import edit_page
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources import grounding
from resolvers.sources.grounding import CitedSection, find_cited, support_times
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft, cite_source
from resolvers.transactions.transaction import read_connection
from resolvers.transactions.writer import Writer
from schema.root import make_engine
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.compiler.test_corrections import BEFORE, keep, rules
from tests.wiki import Wiki

START = datetime(2026, 1, 10, tzinfo=UTC)
SHOWN = """query ($id: ID!) { node(id: $id) { ... on WikiPage {
    confidence grounding { grounded unverified stale }
    sections { sectionSlug grounding { grounded unverified stale } } } } }"""
TEXTS = ("Ana Ruiz lives in Porto.", "Ana Ruiz leads sales.", "Ana Ruiz has two cats.")


async def read_page(wiki: Wiki, page_id: Any) -> Any:
    answer = await make_engine().execute(SHOWN, {"id": str(page_id)}, None, Context(wiki.database, wiki.scope))
    return orjson.loads(answer.body)["data"]["node"]


def counts(grounded: int, unverified: int, stale: int) -> dict[str, int]:
    return {"grounded": grounded, "unverified": unverified, "stale": stale}


@pytest.fixture
async def page_id(wiki: Wiki) -> Any:
    drafts = [
        SourceDraft("document", f"doc-{n}", text, captured_at=START + timedelta(days=n)) for n, text in enumerate(TEXTS)
    ]
    await retain_sources(wiki.database, wiki.scope, drafts)
    body = "Ana Ruiz lives in Porto. Ana Ruiz owns a boat.\n\n## Work\n\nAna Ruiz leads sales."
    return (await create_page(wiki.database, wiki.scope, PageDraft("entity", "Ana Ruiz", body=body))).page_id


async def cite(wiki: Wiki, page_id: Any, section: str, number: int) -> None:
    (source,) = [row["id"] for row in await wiki.rows("sources") if row["ref"] == f"doc-{number}"]
    await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug=section, source_id=source)


async def test_sentences_count_once_their_section_cites_a_source(wiki: Wiki, page_id: Any) -> None:
    assert (await read_page(wiki, page_id))["grounding"] == counts(0, 0, 0), "nothing is known of what cites nothing"
    await cite(wiki, page_id, "overview", 0)
    found = await read_page(wiki, page_id)
    assert (found["grounding"], found["confidence"]) == (counts(1, 1, 0), "LOW")
    await cite(wiki, page_id, "work", 1)
    found = await read_page(wiki, page_id)
    assert found["grounding"] == counts(1, 1, 1), "what the older source says alone is stale now"
    assert [section["grounding"] for section in found["sections"]] == [counts(0, 1, 1), counts(1, 0, 0)]


async def test_an_edit_reads_the_sources_of_its_own_section_alone(
    wiki: Wiki, page_id: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await cite(wiki, page_id, "overview", 0)
    await cite(wiki, page_id, "work", 1)
    read: list[str] = []

    def note_section(section: CitedSection) -> list[datetime | None]:
        read.append(section.body)
        return support_times(section)

    monkeypatch.setattr(grounding, "support_times", note_section)
    edit = {"old_text": "leads sales", "new_text": "leads the sales"}
    await edit_page(wiki.database, wiki.scope, PageAddress(page_id), **edit)
    assert read == ["Ana Ruiz leads the sales."]
    assert (await read_page(wiki, page_id))["grounding"] == counts(1, 1, 1)


async def test_a_manual_edit_is_checked_against_the_cited_sources(wiki: Wiki, page_id: Any) -> None:
    await cite(wiki, page_id, "overview", 0)
    here, address = (wiki.database, wiki.scope), PageAddress(page_id)
    await edit_page(*here, address, old_text=" Ana Ruiz owns a boat.", new_text="")
    assert (await read_page(wiki, page_id))["grounding"] == counts(1, 0, 0)
    await update_page(*here, page_id, body="Ana Ruiz keeps bees in Madrid.")
    assert (await read_page(wiki, page_id))["grounding"] == counts(0, 1, 0)


async def test_confidence_comes_from_independent_sources_that_agree(wiki: Wiki, page_id: Any) -> None:
    here, address = (wiki.database, wiki.scope), PageAddress(page_id)
    await update_page(*here, page_id, body=" ".join(TEXTS))
    expected = ["LOW", "MEDIUM", "HIGH"]
    for number, confidence in enumerate(expected):
        await cite(wiki, page_id, "overview", number)
        assert (await read_page(wiki, page_id))["confidence"] == confidence
    await record_contradiction(*here, address, Claimed("Ana lives in Porto."), Claimed("Ana lives in Faro."))
    assert (await read_page(wiki, page_id))["confidence"] == "MEDIUM"


async def test_copies_of_one_text_count_as_one_source(wiki: Wiki, page_id: Any) -> None:
    drafts = [SourceDraft("url", f"https://{n}.example", "Ana Ruiz lives in Porto.") for n in range(3)]
    await retain_sources(wiki.database, wiki.scope, drafts)
    for row in await wiki.rows("sources"):
        if row["kind"] == "url":
            await cite_source(wiki.database, wiki.scope, page_id=page_id, section_slug="overview", source_id=row["id"])
    assert (await read_page(wiki, page_id))["confidence"] == "LOW"


async def test_text_compiled_by_the_rules_is_never_unverified(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE, "Ana Ruiz moved from Porto to Lisbon.")
    await compile_all(wiki, rules())
    found = [await read_page(wiki, row["id"]) for row in await wiki.rows("pages")]
    assert sum(page["grounding"]["grounded"] for page in found) > 0
    assert {page["grounding"]["unverified"] for page in found} == {0}


@pytest.mark.parametrize("characters", [0, grounding.CACHED_MAX])
async def test_every_page_of_a_batch_is_checked_against_its_sources(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch, characters: int
) -> None:
    monkeypatch.setattr(grounding, "PAGES_PER_BATCH", 2)
    monkeypatch.setattr(grounding, "CACHED_MAX", characters)
    names = ("Anker", "Birke", "Distel", "Erle", "Fichte")
    await retain_texts(wiki, "\n".join(f"page entity {name}\n{name} grows by the river." for name in names))
    await compile_all(wiki)
    sections = [row for row in await wiki.rows("sections") if row["body_md"]]
    assert len(sections) == 5
    assert all(row["supported_at"] for row in sections)


async def test_a_source_cited_by_many_sections_is_read_once(wiki: Wiki) -> None:
    names = ("Anker", "Birke", "Distel")
    await retain_texts(wiki, "\n".join(f"page entity {name}\n{name} grows by the river." for name in names))
    await compile_all(wiki)
    page_ids = [row["id"] for row in await wiki.rows("pages") if row["title"] in names]
    arguments = {"page_ids": page_ids, "section_id": None, "recheck": True}
    known: dict[UUID, str] = {}
    async with read_connection(wiki.database) as connection:
        first = await find_cited(Writer(connection, wiki.scope), arguments, known)
        rows = await Writer(connection, wiki.scope).all(
            grounding.GROUNDING["find_cited"], **arguments, known=list(known)
        )
    assert len(first) == 3
    assert len(known) == 1
    assert {text for section in first for text in section.texts} == set(known.values())
    assert [row["is_section"] for row in rows] == [True, True, True]


FOUND = """query ($tenant: ID!, $strict: Boolean) {
    wikiSearch(tenantId: $tenant, query: "porto", filter: { strict: $strict }) { score page { slug } } }"""


async def test_a_strict_search_demotes_pages_that_are_not_grounded(wiki: Wiki, page_id: Any) -> None:
    async def found(strict: bool) -> dict[str, float]:
        given = {"tenant": str(wiki.scope.tenant_id), "strict": strict}
        answer = await make_engine().execute(FOUND, given, None, Context(wiki.database, wiki.scope))
        return {hit["page"]["slug"]: hit["score"] for hit in orjson.loads(answer.body)["data"]["wikiSearch"]}

    here = wiki.database, wiki.scope
    await update_page(*here, page_id, body="Porto, Porto. Ana Ruiz keeps bees in Porto.")
    await cite(wiki, page_id, "overview", 0)
    sure = (await create_page(*here, PageDraft("entity", "Other", body="Ana Ruiz lives in Porto."))).page_id
    await cite(wiki, sure, "overview", 0)
    uncited = await create_page(*here, PageDraft("entity", "Third", body="Somebody else lives in Porto now."))
    assert uncited.changed
    usual, strict = await found(False), await found(True)
    assert next(iter(usual)) == "ana-ruiz"
    assert list(strict) == ["other", "third", "ana-ruiz"]
    assert strict["other"] == pytest.approx(usual["other"])
    assert strict["third"] == pytest.approx(usual["third"] / 2)
