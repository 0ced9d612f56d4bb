"""Clients edit, compare, restore, rename, merge and batch-change pages."""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
import pytest

from resolvers.context import Context
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from schema.root import GRAPHQL, make_engine
from tests.wiki import Wiki

Change = Callable[..., Coroutine[Any, Any, Any]]
CONFLICT = "conflict { currentVersion page { version } }"
EDIT = f"""changed note matchedBy replacements lines linesRemoved linesAdded page {{ version bodyMd }}
    revision {{ version bodyMd editSummary }} userErrors {{ code field }} {CONFLICT}
    failure {{ message passesTried nearest {{ text line similarity }} }} ambiguity {{ count lines matchedBy }}"""
RENAME = f"changed pagesRewritten pagesLeft page {{ title slug }} userErrors {{ field }} {CONFLICT}"
BATCH = "userErrors { code field } outcomes { position ok changed error { code } } pages { title status tags }"
BODY = "Opened in 2019.\n\n## Menu\n\n- filter"


@pytest.fixture
async def page_id(wiki: Wiki) -> str:
    draft = PageDraft("entity", "Harbour", body=BODY)
    return str((await create_page(wiki.database, wiki.scope, draft)).page_id)


@pytest.fixture
def ask(wiki: Wiki) -> Change:
    engine = make_engine()

    async def run(text: str, **variables: Any) -> Any:
        answer = orjson.loads((await engine.execute(text, variables, None, Context(wiki.database, wiki.scope))).body)
        assert "errors" not in answer, answer
        return answer["data"]

    return run


@pytest.fixture
def change(ask: Change) -> Change:
    async def run(name: str, shown: str, /, **input: Any) -> Any:
        assert GRAPHQL.mutation_type is not None
        kind = GRAPHQL.mutation_type.fields[name].args["input"].type
        data = await ask(f"mutation($input: {kind}) {{ {name}(input: $input) {{ {shown} }} }}", input=input)
        return data[name]

    return run


async def test_an_edit_reports_its_match_and_its_changes(change: Change, page_id: str) -> None:
    done = await change(
        "editWikiPage", EDIT, pageId=page_id, oldText="  - filter", newText="  - oat\n  - v60", summary="x"
    )
    body = "Opened in 2019.\n\n## Menu\n\n- oat\n- v60"
    assert done == {
        "changed": True, "note": None, "matchedBy": "LINES", "replacements": 1, "lines": [5], "linesRemoved": 1,
        "linesAdded": 2, "page": {"version": 2, "bodyMd": body}, "userErrors": [], "conflict": None, "failure": None,
        "revision": {"version": 2, "bodyMd": body, "editSummary": "x"}, "ambiguity": None,
    }  # fmt: skip


async def test_a_failed_edit_is_a_typed_error(change: Change, page_id: str) -> None:
    failed = await change("editWikiPage", EDIT, pageId=page_id, oldText="Opened in 2020.", newText="x")
    nearest = failed["failure"]["nearest"]
    assert (nearest["text"], nearest["line"], nearest["similarity"] > 0.8) == ("Opened in 2019.", 1, True)
    assert failed["failure"]["passesTried"] == ["EXACT", "LINES", "WHITESPACE", "INDENTATION"]
    assert (failed["page"], failed["revision"], failed["changed"]) == (None, None, False)
    ambiguous = await change("editWikiPage", EDIT, type="ENTITY", slug="harbour", oldText="n", newText="x")
    assert ambiguous["ambiguity"] == {"count": 3, "lines": [1, 1, 3], "matchedBy": "EXACT"}
    stale = await change("editWikiPage", EDIT, pageId=page_id, oldText="2019", newText="x", expectedVersion=9)
    assert stale["conflict"] == {"currentVersion": 1, "page": {"version": 1}}
    empty = await change("editWikiPage", EDIT, pageId=page_id, oldText="", newText="x")
    assert empty["userErrors"] == [{"code": "BAD_USER_INPUT", "field": ["oldText"]}]
    same = await change("editWikiPage", EDIT, pageId=page_id, oldText="2019", newText="2019")
    assert (same["changed"], same["revision"]["version"]) == (False, 1)
    assert "nothing was written" in same["note"]


async def test_text_is_appended_to_a_section(change: Change, page_id: str) -> None:
    done = await change("appendToWikiPage", EDIT, pageId=page_id, sectionSlug="menu", text="- tea", asParagraph=False)
    assert done["page"]["bodyMd"].endswith("- filter\n- tea")


async def test_two_versions_are_compared_as_text_and_as_data(ask: Change, change: Change, page_id: str) -> None:
    await change("editWikiPage", EDIT, pageId=page_id, oldText="2019", newText="2018")
    text = """query ($id: ID!, $to: Int!) { diffWikiRevisions(pageId: $id, from: 1, to: $to) {
        unified linesRemoved linesAdded isTruncated fromRevision { version } toRevision { bodyMd }
        hunks { oldStart newCount lines { kind text oldLine newLine isEnded parts { start length } } } } }"""
    found = (await ask(text, id=page_id, to=2))["diffWikiRevisions"]
    assert found["unified"].startswith(
        "--- version 1\n+++ version 2\n@@ -1,4 +1,4 @@\n-Opened in 2019.\n+Opened in 2018.\n"
    )
    assert (found["linesRemoved"], found["linesAdded"], found["isTruncated"]) == (1, 1, False)
    assert (found["fromRevision"], found["toRevision"]["bodyMd"]) == ({"version": 1}, BODY.replace("2019", "2018"))
    (hunk,) = found["hunks"]
    assert (hunk["oldStart"], hunk["newCount"], len(hunk["lines"])) == (1, 4, 5)
    changed = {"oldLine": 1, "newLine": None, "isEnded": True, "parts": [{"start": 10, "length": 4}]}
    assert hunk["lines"][0] == {"kind": "REMOVED", "text": "Opened in 2019.", **changed}
    assert (await ask(text, id=page_id, to=3)) == {"diffWikiRevisions": None}


async def test_an_earlier_version_is_restored(change: Change, page_id: str) -> None:
    await change("editWikiPage", EDIT, pageId=page_id, oldText="2019", newText="2018")
    done = await change(
        "restoreWikiRevision", f"changed page {{ version bodyMd }} {CONFLICT}", pageId=page_id, version=1
    )
    assert done == {"changed": True, "page": {"version": 3, "bodyMd": BODY}, "conflict": None}


async def test_a_rename_reports_how_many_pages_were_rewritten(wiki: Wiki, change: Change, page_id: str) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("topic", "Trip", body="To [[Harbour]]."))
    done = await change("renameWikiPage", RENAME, pageId=page_id, title="Harbour Coffee", slug="harbour-coffee")
    assert (done["page"], done["pagesRewritten"], done["pagesLeft"]) == (
        {"title": "Harbour Coffee", "slug": "harbour-coffee"},
        1,
        0,
    )
    refused = await change("renameWikiPage", RENAME, pageId=page_id, title=None)
    assert refused["userErrors"] == [{"field": ["title"]}]


async def test_the_slug_of_a_merged_page_redirects_to_its_target(
    wiki: Wiki, ask: Change, change: Change, page_id: str
) -> None:
    gone = (await create_page(wiki.database, wiki.scope, PageDraft("entity", "Quay", body="Old."))).page_id
    input = {"fromPageId": str(gone), "intoPageId": page_id}
    done = await change("mergeWikiPages", "page { id } userErrors { message }", **input)
    assert done["page"] == {"id": page_id}
    found = await ask(
        'query ($t: ID!) { wikiPage(tenantId: $t, type: ENTITY, slug: "quay") { id redirectedFrom } }',
        t=str(wiki.scope.tenant_id),
    )
    assert found["wikiPage"] == {"id": page_id, "redirectedFrom": "quay"}


async def test_batch_mutations_report_an_outcome_for_each_page(wiki: Wiki, change: Change, page_id: str) -> None:
    ids = [page_id, "00000000-0000-7000-8000-000000000000"]
    done = await change("tagWikiPages", BATCH, pageIds=ids, add=["cafe"])
    assert done["userErrors"] == [{"code": "NOT_FOUND", "field": ["pageIds", "1"]}]
    assert [(one["position"], one["ok"], one["changed"]) for one in done["outcomes"]] == [
        (0, True, True),
        (1, False, False),
    ]
    assert done["pages"] == [{"title": "Harbour", "status": "ACTIVE", "tags": ["cafe"]}]
    done = await change("archiveWikiPages", BATCH, pageIds=[page_id, page_id])
    assert [one["changed"] for one in done["outcomes"]] == [True, False]
    assert [page["status"] for page in done["pages"]] == ["ARCHIVED"]
    done = await change("unarchiveWikiPages", BATCH, pageIds=[page_id])
    assert [page["status"] for page in done["pages"]] == ["ACTIVE"]
    done = await change("archiveWikiPages", BATCH, pageIds=ids[1:] * 101)
    assert done["userErrors"] == [{"code": "BAD_USER_INPUT", "field": ["pageIds"]}]


async def test_changing_the_type_of_a_page_is_refused(change: Change, page_id: str) -> None:
    shown = "changed userErrors { message field }"
    done = await change("updateWikiPage", shown, pageId=page_id, type="TOPIC", title="T")
    assert done["userErrors"][0]["field"] == ["type"]
    assert "never changes" in done["userErrors"][0]["message"]
    assert (await change("updateWikiPage", shown, pageId=page_id, type="ENTITY", title="T"))["changed"]


async def test_pages_are_merged_one_or_several_at_once(wiki: Wiki, change: Change) -> None:
    ids = [str((await create_page(wiki.database, wiki.scope, PageDraft("topic", title))).page_id) for title in "ABCD"]
    shown = "changed page { title } userErrors { field }"
    one = await change("mergeWikiPages", shown, fromPageId=ids[1], intoPageId=ids[0], fromExpectedVersion=1)
    several = await change("mergeWikiPages", shown, fromPageIds=ids[1:], intoPageId=ids[0])
    assert (one["changed"], several["changed"]) == (True, True)
    gone = await wiki.rows("merged_pages", "page_id")
    assert {str(row["into_page_id"]) for row in gone} == {ids[0]}
    assert len(gone) == 3
    for given, field in (
        ({}, "fromPageIds"),
        ({"fromPageIds": [ids[1]], "fromExpectedVersion": 1}, "fromExpectedVersion"),
    ):
        refused = await change("mergeWikiPages", shown, intoPageId=ids[0], **given)
        assert refused["userErrors"] == [{"field": [field]}]
