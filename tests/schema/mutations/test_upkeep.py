"""Clients read what depends on a source, forget sources and rebuild pages, if they have permission."""

from typing import Any

from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import make_engine
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.schema.executing import RecordingContext, error_code, execute_document
from tests.wiki import Wiki

ENGINE = make_engine()
RADIUS = """query ($id: ID!) { wikiSourceBlastRadius(sourceId: $id) {
    sections { totalCount nodes { sectionSlug page { title } } } soleSections { totalCount nodes { sectionSlug } }
    pages { totalCount nodes { title } } shownOn { totalCount nodes { title } }
    names { totalCount nodes { name } } } }"""
FORGET = """mutation ($id: ID!, $reason: String) { forgetWikiSource(input: {sourceId: $id, reason: $reason}) {
    versions compileJobId userErrors { field code }
    source { kind ref content title metadata checksum forgottenAt forgottenBy forgottenReason } } }"""
REBUILD = "mutation ($id: ID!) { rebuildWikiPage(input: {pageId: $id}) { compileJobId userErrors { code } } }"


async def execute(wiki: Wiki, text: str, **variables: Any) -> dict[str, Any]:
    return await execute_document(ENGINE, RecordingContext(wiki.database, wiki.scope), text, **variables)


async def test_the_blast_radius_of_a_source_is_read_by_one_statement(wiki: Wiki) -> None:
    source_id, _ = await retain_texts(
        wiki,
        "page entity Momofuku\nFood.\nto entity Momofuku # visits\nTuesday.\nhold Chef João",
        "to entity Momofuku\nMore.",
    )
    await compile_all(wiki)
    listing = PageDraft("topic", "Toronto", body="See [[Momofuku]].")
    await create_page(wiki.database, wiki.scope, listing)
    context = RecordingContext(wiki.database, wiki.scope)
    found = (await execute_document(ENGINE, context, RADIUS, id=str(source_id)))["data"]["wikiSourceBlastRadius"]
    assert len(context.statements) == 1
    found["sections"]["nodes"].sort(key=lambda section: section["sectionSlug"])
    assert found == {
        "sections": {"totalCount": 2, "nodes": [
            {"sectionSlug": slug, "page": {"title": "Momofuku"}} for slug in ("overview", "visits")
        ]},
        "soleSections": {"totalCount": 1, "nodes": [{"sectionSlug": "visits"}]},
        "pages": {"totalCount": 1, "nodes": [{"title": "Momofuku"}]},
        "shownOn": {"totalCount": 1, "nodes": [{"title": "Toronto"}]},
        "names": {"totalCount": 1, "nodes": [{"name": "Chef João"}]},
    }  # fmt: skip
    stranger = await wiki.neighbour(Role.MEMBER)
    assert (await execute(stranger, RADIUS, id=str(source_id)))["data"] == {"wikiSourceBlastRadius": None}


async def test_a_forgotten_source_keeps_its_ref_and_reason_but_no_content(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, "page entity Momofuku\nThe Zyxglorb.", place="Zyxglorb")
    await compile_all(wiki)
    done = (await execute(wiki, FORGET, id=str(source_id), reason="Asked for."))["data"]["forgetWikiSource"]
    assert (done["versions"], done["userErrors"]) == (1, [])
    assert done["compileJobId"]
    left = done["source"]
    assert (left["content"], left["title"], left["metadata"]) == ("", None, {})
    assert (left["ref"], left["forgottenBy"], left["forgottenReason"]) == ("day-0", "user:marco", "Asked for.")
    assert left["checksum"]
    assert left["forgottenAt"]
    await compile_all(wiki)
    assert not await found_in(wiki, "Zyxglorb")
    search = 'query ($t: ID!) { wikiSearch(tenantId: $t, query: "zyxglorb") { page { title } } }'
    assert (await execute(wiki, search, t=str(wiki.scope.tenant_id)))["data"] == {"wikiSearch": []}


async def test_forgetting_is_refused_without_permission_or_with_a_long_reason(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, "page entity Momofuku\nFood.")
    assert error_code(await execute(wiki.with_role(Role.MEMBER), FORGET, id=str(source_id))) == "FORBIDDEN"
    assert error_code(await execute(await wiki.neighbour(Role.MEMBER), FORGET, id=str(source_id))) == "NOT_FOUND"
    refused = (await execute(wiki, FORGET, id=str(source_id), reason="x" * 5_000))["data"]["forgetWikiSource"]
    assert refused["userErrors"] == [{"field": ["reason"], "code": "BAD_USER_INPUT"}]
    await compile_all(wiki)


async def test_repeated_rebuilds_of_a_page_share_one_job(wiki: Wiki) -> None:
    await retain_texts(wiki, "page entity Momofuku\nFood.")
    await compile_all(wiki)
    page_id = str((await wiki.row("pages"))["id"])
    jobs = [(await execute(wiki.with_role(Role.MEMBER), REBUILD, id=page_id))["data"]["rebuildWikiPage"] for _ in "ab"]
    assert jobs[0] == jobs[1]
    assert jobs[0]["compileJobId"]
    all_of_it = "mutation { rebuildWiki(input: {}) { compileJobId } }"
    assert error_code(await execute(wiki.with_role(Role.MEMBER), all_of_it)) == "FORBIDDEN"
    assert (await execute(wiki, all_of_it))["data"]["rebuildWiki"]["compileJobId"] != jobs[0]["compileJobId"]
    await compile_all(wiki)
