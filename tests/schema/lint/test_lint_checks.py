"""Lint checks metadata, contradictions between pages, folders and names in plain text."""

from datetime import UTC, datetime
from typing import Any

import pytest

from db.scope import Role
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.links.targets import NamedRelation, write_relations
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.contradictions import Claimed, record_contradiction
from resolvers.pages.lifecycle import create_page
from resolvers.sources.mentions import record_mention
from resolvers.sources.sources import SourceDraft, add_source, cite_source
from resolvers.transactions.transaction import writing
from tests.schema.lint.test_lint import linted
from tests.wiki import Wiki


async def page(
    wiki: Wiki, title: str, metadata: dict[str, Any] | None = None, type: str = "topic", body: str = ""
) -> Any:
    draft = PageDraft(type, title, body=body, metadata=metadata or {})
    return (await create_page(wiki.database, wiki.scope, draft)).page_id


def details(report: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(one["title"], one["detail"]) for one in report["findings"]]


async def test_invalid_metadata_values_are_reported(wiki: Wiki) -> None:
    good = {"confidence": "high", "sensitivity": "secret", "expires_at": "2099-01-01T10:00:00Z", "created": None}
    await page(wiki, "Good", good | {"type": "topic"})
    await page(wiki, "Bad", {"confidence": 0.8, "sensitivity": "hush", "expires": "2026-02-31", "type": "entity"})
    found = (await linted(wiki))["wrong_metadata"]
    assert details(found) == [
        ("Bad", 'confidence: "0.8" is none of low, medium, high'),
        ("Bad", 'expires: "2026-02-31" is no date'),
        ("Bad", 'sensitivity: "hush" is none of public, internal, confidential, secret'),
        ("Bad", 'type: "entity", and the page is of the type topic'),
    ]


async def test_a_field_is_missing_where_most_pages_of_the_type_have_it(wiki: Wiki) -> None:
    for title in ("A", "B"):
        await page(wiki, title, {"confidence": "low"})
    await page(wiki, "Other", type="entity")
    assert (await linted(wiki))["missing_metadata"]["total"] == 0, "of two pages nothing is usual"
    await page(wiki, "C", {"owner": "mara"})
    assert details((await linted(wiki))["missing_metadata"]) == [("C", "confidence")]


async def test_missing_sensitivity_is_reported_once_used_or_required(wiki: Wiki) -> None:
    await page(wiki, "Silent")
    assert (await linted(wiki))["unsaid_sensitivity"]["total"] == 0
    await update_wiki_settings(wiki.database, wiki.with_role(Role.ADMIN).scope, WikiSettings(requires_sensitivity=True))
    assert details((await linted(wiki))["unsaid_sensitivity"]) == [("Silent", None)]
    await update_wiki_settings(
        wiki.database, wiki.with_role(Role.ADMIN).scope, WikiSettings(requires_sensitivity=False)
    )
    await page(wiki, "Open", {"sensitivity": "public"})
    assert details((await linted(wiki))["unsaid_sensitivity"]) == [("Silent", None)]


async def test_citations_of_unknown_sources_are_found_beside_known_ones(wiki: Wiki) -> None:
    await add_source(wiki.database, wiki.scope, SourceDraft("daily_note", "day-1", "Said."))
    cited = [{"ref": "day-1"}, {"uri": "memory/2026-01-15.md"}, "notes.md", 7, None]
    await page(wiki, "Cites", {"sources": cited, "source_refs": "day-1"})
    assert details((await linted(wiki))["unknown_sources"]) == [
        ("Cites", "7"), ("Cites", "memory/2026-01-15.md"), ("Cites", "notes.md"),
    ]  # fmt: skip


async def test_contradicting_pages_are_reported_with_a_suggested_resolution(wiki: Wiki) -> None:
    old, sure = await page(wiki, "Old", {"confidence": "low"}), await page(wiki, "Sure", {"confidence": "high"})
    await wiki.connection.execute("UPDATE pages SET updated_at = '2026-01-01' WHERE id IN ($1, $2)", old, sure)
    await page(wiki, "New", {"contradicts": ["old", "[[topic/sure]]", "Prose of what it contradicts."]})
    found = (await linted(wiki))["contradicting_pages"]
    assert details(found) == [
        ("New", "contradicts topic/old: topic/new holds by the policy, the newer one"),
        ("New", "contradicts topic/sure: the older one is of high confidence, so somebody has to weigh them"),
    ]
    assert found["findings"][0]["fix"] == "cairn wiki supersede topic/old FACT REPLACEMENT"


async def test_contradictions_of_claims_suggest_keeping_the_newer_claim(wiki: Wiki) -> None:
    where, page_id = (wiki.database, wiki.scope), await page(wiki, "Ana", body="So.")

    older = Claimed("Ana lives in Porto.", on=datetime(2026, 1, 1, tzinfo=UTC))
    newer = Claimed("Ana lives in Faro.", on=datetime(2026, 2, 1, tzinfo=UTC))
    contradiction = await record_contradiction(*where, PageAddress(page_id), older, newer)
    (one,) = (await linted(wiki))["contradictions"]["findings"]
    assert one["fix"] == f"cairn wiki resolve {contradiction.id} keep-newer REASON"


async def test_contradiction_loops_are_reported_but_chains_are_not(wiki: Wiki) -> None:
    for title, metadata in {
        "A": {"supersedes": ["b"]}, "B": {"supersedes": "c"}, "C": {"supersedes": ["a"]},
        "D": {"supersedes": ["a"]}, "E": {"supersedes": ["d"], "contradicts": ["e"]},
    }.items():  # fmt: skip
        await page(wiki, title, metadata)
    assert details((await linted(wiki))["contradiction_loops"]) == [
        ("A", "supersedes b, which leads back to it in 3 steps"),
        ("B", "supersedes c, which leads back to it in 3 steps"),
        ("C", "supersedes a, which leads back to it in 3 steps"),
        ("E", "contradicts e, which leads back to it in 1 step"),
    ]


async def test_broken_relations_are_reported_apart_from_broken_links(wiki: Wiki) -> None:
    page_id = await page(wiki, "A", {"supersedes": ["gone"], "contradicts": "also-gone"}, body="See [[not-there]].")
    named = NamedRelation(page_id, "related", "nowhere", None, "nowhere", "nowhere")
    async with writing(wiki.database, wiki.scope) as writer:
        await write_relations(writer, [page_id], [named])
    found = await linted(wiki)
    assert details(found["broken_relations"]) == [
        ("A", "contradicts: also-gone"), ("A", "related: nowhere"), ("A", "supersedes: gone"),
    ]  # fmt: skip
    assert details(found["broken_links"]) == [("A", "not-there")]


@pytest.mark.parametrize(
    ("metadata", "detail"),
    [
        ({"category": "decisions"}, "the category says decision"),
        ({"imported_from": "vault/Entities/austin.md"}, "the folder says entity"),
        ({"imported_from": "vault/topics/austin.md"}, None),
        ({"category": "pricing", "imported_from": "austin.md"}, None),
    ],
)
async def test_a_category_or_folder_of_another_type_is_reported(
    wiki: Wiki, metadata: dict[str, Any], detail: str | None
) -> None:
    await page(wiki, "Austin", metadata)
    assert details((await linted(wiki))["stray_places"]) == ([("Austin", detail)] if detail else [])


async def test_decisions_without_considered_options_are_reported(wiki: Wiki) -> None:
    await page(wiki, "Bare", type="decision", body="## Decision\n\nPostgres.")
    await page(wiki, "Weighed", type="decision", body="## Decision\n\nPostgres.\n\n## Options considered\n\nDynamoDB.")
    await page(wiki, "Erwogen", type="decision", body="## Decision\n\nPostgres.\n\n## Alternativen\n\nDynamoDB.")
    assert details((await linted(wiki))["decision_options"]) == [("Bare", None)]


async def test_mentioned_names_without_a_page_are_reported(wiki: Wiki) -> None:
    where = wiki.database, wiki.scope
    source = await add_source(*where, SourceDraft("daily_note", "n", "Chef João cooks; $(Rio)."))
    for name in ("Chef João", "$(Rio)"):
        await record_mention(*where, name=name, source_id=source.source_id)
    for n in range(3):
        page_id = await page(wiki, f"Note {n}", body="## A\n\nChef João, $(Rio).")
        await cite_source(*where, page_id=page_id, section_slug="a", source_id=source.source_id)
    found = (await linted(wiki))["plain_names"]
    assert details(found) == [("$(Rio)", "3 pages say it"), ("Chef João", "3 pages say it")]
    assert [one["fix"] for one in found["findings"]] == [
        "cairn create entity '$(Rio)'",
        "cairn create entity 'Chef João'",
    ]


async def test_unlinked_page_titles_in_plain_text_are_reported(wiki: Wiki) -> None:
    await page(wiki, "Harbour Coffee", type="entity", body="A café.")
    for n in range(3):
        await page(wiki, f"Note {n}", body="Beans from harbour coffee.")
    await page(wiki, "Linked", body="Beans from [[harbour-coffee|Harbour Coffee]].")
    await page(wiki, "Otherwise", body="Coffee at the harbour.")
    found = (await linted(wiki))["unlinked_names"]
    assert details(found) == [("Harbour Coffee", "3 pages say it without a link")]
    assert found["findings"][0]["fix"] == "cairn edit topic/note-0 'Harbour Coffee' '[[harbour-coffee]]'"


async def test_thresholds_are_settings_of_the_wiki(wiki: Wiki) -> None:
    page_id = await page(wiki, "Long", body="word " * 250)
    await page(wiki, "Short", body="See [[nowhere]].")
    await wiki.connection.execute("UPDATE pages SET updated_at = now() - interval '10 days' WHERE id = $1", page_id)
    found = await linted(wiki)
    assert [found[name]["total"] for name in ("stale", "oversize", "missing_pages")] == [0, 0, 0]
    settings = WikiSettings(stale_after_days=5, oversize_characters=1_000, lint_min_pages=1)
    await update_wiki_settings(wiki.database, wiki.with_role(Role.ADMIN).scope, settings)
    found = await linted(wiki)
    assert [found[name]["total"] for name in ("stale", "oversize", "missing_pages")] == [1, 1, 1]
