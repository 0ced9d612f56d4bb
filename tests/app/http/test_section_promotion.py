"""A compiled section is promoted to its own page, over GraphQL and from the command line."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from compiler.compiler import Compiler
from compiler.extraction import ExtractivePlanner, ExtractiveWriter
from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import archive_page, create_page
from resolvers.sources.mentions import record_mention
from tests.app.command_line import MARA, RunCommand
from tests.app.service import Service, serving
from tests.compiler.austin_journals import retain_notes, visit_notes
from tests.compiler.scripted_compiler import compile_all
from tests.resolvers.conftest import wiki
from tests.wiki import Wiki

__all__ = ["wiki"]

PAGE = """query ($t: ID!, $slug: String!) { wikiPage(tenantId: $t, type: TOPIC, slug: $slug) {
    id title summary hubnessScore parent { title } children { title }
    sections { sectionSlug bodyMd aggregation promotedPage { title } sourceCount lastSourceAt }
    promotedFromSection { parentPage { title } sectionSlug sectionHeading }
    activities: sectionChildren(sectionSlug: "activities") { title type }
    outdoors: sectionChildren(sectionSlug: "outdoors") { title } } }"""
DROP = """mutation ($kind: String!, $dry: Boolean!) { dropWikiLinks(input: {kind: $kind, dryRun: $dry}) {
    links deleted userErrors { code field } } }"""
SUPPRESS = """mutation ($id: ID!, $slug: String!, $suppressed: Boolean!) { suppressWikiSectionPromotion(
    input: {pageId: $id, sectionSlug: $slug, suppressed: $suppressed}) {
        page { title } userErrors { code field message } } }"""


@pytest.fixture
async def service(dsn: str, tmp_path: Path) -> AsyncIterator[Service]:
    async with serving(dsn, tmp_path) as running:
        yield running


async def test_graphql_shows_promoted_sections_and_suppresses_promotions(service: Service, wiki: Wiki) -> None:
    await retain_notes(wiki, visit_notes())
    await compile_all(wiki, Compiler(ExtractivePlanner(), ExtractiveWriter()))
    admin = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)

    async def page(slug: str) -> dict[str, Any]:
        answer = await service.ask(PAGE, admin, t=str(wiki.scope.tenant_id), slug=slug)
        found: dict[str, Any] = answer["data"]["wikiPage"]
        return found

    austin, promoted = await page("austin"), await page("austin-activities")
    assert [child["title"] for child in austin["children"]] == ["Austin Activities"]
    sections = {section["sectionSlug"]: section for section in austin["sections"]}
    assert sections["activities"]["promotedPage"] == {"title": "Austin Activities"}
    assert sections["activities"]["aggregation"]["promotion_status"] == "promoted"
    assert sections["activities"]["aggregation"]["promoted_page_id"] == promoted["id"]
    assert sections["activities"]["lastSourceAt"].startswith("2026-04-30T09:00:00")
    assert sections["restaurants"]["aggregation"]["supporting_record_count"] == 3
    assert {"title": "Austin Activities", "type": "TOPIC"} in austin["activities"]
    assert promoted["parent"] == {"title": "Austin"}
    assert promoted["promotedFromSection"] == {
        "parentPage": {"title": "Austin"}, "sectionSlug": "activities", "sectionHeading": "Activities",
    }  # fmt: skip
    assert (len(promoted["activities"]), len(promoted["outdoors"])) == (10, 7)
    assert all(
        section["sourceCount"] or section["aggregation"] for section in austin["sections"] + promoted["sections"]
    )
    assert austin["hubnessScore"] > promoted["hubnessScore"] >= 1

    dry = (await service.ask(DROP, admin, kind="deterministic:city:*", dry=True))["data"]["dropWikiLinks"]
    assert dry["userErrors"] == []
    assert dry["links"] > 0
    dropped = (await service.ask(DROP, admin, kind="deterministic:city:*", dry=False))["data"]["dropWikiLinks"]
    assert dropped == dry
    assert (await service.ask(DROP, admin, kind="deterministic:city:*", dry=True))["data"]["dropWikiLinks"][
        "links"
    ] == 0
    refused = (await service.ask(DROP, admin, kind="planner", dry=True))["data"]["dropWikiLinks"]
    assert refused["userErrors"] == [{"code": "BAD_USER_INPUT", "field": ["kind"]}]

    given = {"id": austin["id"], "slug": "restaurants", "suppressed": True}
    answer = await service.ask(SUPPRESS, admin, **given)
    assert answer["data"]["suppressWikiSectionPromotion"]["userErrors"] == []
    aggregations = {section["sectionSlug"]: section["aggregation"] for section in (await page("austin"))["sections"]}
    assert aggregations["restaurants"]["promotion_status"] == "suppressed"
    (error,) = (await service.ask(SUPPRESS, admin, **given | {"slug": "activities"}))["data"][
        "suppressWikiSectionPromotion"
    ]["userErrors"]
    assert (error["code"], error["field"]) == ("BAD_USER_INPUT", ["sectionSlug"])
    member = service.token(wiki.scope.tenant_id, wiki.scope.owner_id)
    for text, variables in ((SUPPRESS, given), (DROP, {"kind": "co_mention", "dry": True})):
        assert "FORBIDDEN" in json.dumps(await service.ask(text, member, **variables))


def test_commands_suppress_promotions_and_drop_links(run_in_acme: RunCommand, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    lines = [
        {"kind": visit.kind, "ref": visit.ref, "content": visit.content, "metadata": visit.metadata}
        for visit in visit_notes()
    ]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_in_acme("retain", str(notes), *MARA).code == 0
    assert run_in_acme("compile", *MARA, "--wait").code == 0
    result = run_in_acme("suppress", "topic/austin", "restaurants", *MARA)
    assert (result.code, result.out) == (0, "The section restaurants of topic/austin will not be promoted to a page.\n")
    result = run_in_acme("suppress", "topic/austin", "restaurants", *MARA, "--lift", "--json")
    assert json.loads(result.out)["changed"]
    assert run_in_acme("suppress", "topic/austin", "nothing", *MARA).code == 1
    dry = json.loads(run_in_acme("links", "drop", "deterministic:*", *MARA, "--dry-run", "--json").out)
    assert "Nothing was changed" in run_in_acme("links", "drop", "deterministic:*", *MARA, "--dry-run").out
    assert dry["links"] > 0
    dropped = run_in_acme("links", "drop", "deterministic:*", *MARA).out
    assert f"from {dry['links']} links; {dry['deleted']} had no other" in dropped
    assert run_in_acme("links", "drop", "planner", *MARA).code == 1


async def test_the_archived_page_of_a_mention_is_shown_only_on_request(service: Service, wiki: Wiki) -> None:
    here = wiki.database, wiki.scope
    page = (await create_page(*here, PageDraft("topic", "Bats", body="Text."))).page_id
    mention = await record_mention(*here, name="Bats", source_id=await wiki.add_source())
    await wiki.connection.execute(
        "UPDATE mentions SET status = 'promoted', promoted_page_id = $1 WHERE id = $2", page, mention.mention_id
    )
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.ADMIN)
    document = """{ wikiMentions { nodes { seen: promotedPage { title }
        kept: promotedPage(includeArchived: true) { title } } } }"""

    async def shown() -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = (await service.ask(document, token))["data"]["wikiMentions"]["nodes"]
        return nodes

    assert await shown() == [{"seen": {"title": "Bats"}, "kept": {"title": "Bats"}}]
    await archive_page(*here, page)
    assert await shown() == [{"seen": None, "kept": {"title": "Bats"}}]
