"""Tests pages over REST: their representation, versions, lists, patches and permissions."""

import httpx
import pytest

from db.scope import Role
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page
from resolvers.pages.renaming import rename_page
from tests.app.clients.rest_client import RestClient, status_and_code
from tests.app.service import Service
from tests.wiki import Wiki, check_derived_rows, close_wiki, open_wiki


@pytest.fixture
def rest(service: Service, token: str) -> RestClient:
    return RestClient(service.http, token)


async def test_lists_of_pages_with_the_longest_titles_can_be_paged(rest: RestClient) -> None:
    for n in range(3):
        await rest.create_page("🦆" * 499 + str(n), slug=f"d-{n}")
    seen, cursor = [], None
    while not seen or cursor:
        params = {"order": "title", "limit": 1} | ({"cursor": cursor} if cursor else {})
        part = (await rest.get("/pages", params=params)).json()
        seen, cursor = [*seen, part["items"][0]["slug"]], part["next"]
    assert seen == ["d-0", "d-1", "d-2"]


async def test_a_created_page_is_read_back_unchanged(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    given = {
        "title": "Zilker Park",
        "type": "entity",
        "summary": "A park in Austin.",
        "content": "A park.\n\n## Visits\n\nSee [Austin](wiki:austin) and [[Barton]].",
        "related": ["austin"],
        "tags": ["green"],
        "edit_summary": "Begun",
    }
    answer = await rest.post("/pages", given)
    created = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == "/api/wiki/pages/zilker-park?type=entity"
    read = await rest.get(answer.headers["location"].removeprefix("/api/wiki"))
    assert read.json() == created
    assert read.headers["etag"] == answer.headers["etag"]
    austin = {"slug": "austin", "title": "Austin", "type": "topic", "broken": False}
    assert (
        created
        | {
            "slug": "zilker-park",
            "summary": "A park in Austin.",
            "content": given["content"],
            "version": 1,
            "status": "active",
            "aliases": ["zilker park"],
            "tags": ["green"],
            "related": ["austin"],
            "links": [austin, {"slug": "barton", "title": "barton", "type": None, "broken": True}],
            "redirected_from": None,
        }
        == created
    )
    assert created["created_by"] == created["updated_by"] != ""
    await check_derived_rows(wiki)


async def test_a_created_page_can_be_edited_with_the_etag_of_the_response(rest: RestClient) -> None:
    created = await rest.post("/pages", {"title": "Austin", "type": "topic", "content": "One.\n\n## More\n\nTwo."})
    edit = {"old_text": "Two.", "new_text": "Three.", "section": "more", "edit_summary": "Counted on"}
    answer = await rest.post("/pages/austin/edit", edit, headers={"if-match": created.headers["etag"]})
    assert answer.status_code == 200
    assert (answer.json()["version"], answer.json()["content"]) == (2, "One.\n\n## More\n\nThree.")


async def test_a_related_page_must_exist_and_be_unambiguous(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    await rest.create_page("Austin", "entity")
    for related, field in (
        (["nowhere"], "related.0"),
        (["entity/austin", "austin"], "related.1"),
        (["me"], "related.0"),
    ):
        answer = await rest.post("/pages", {"title": "Me", "type": "topic", "content": "", "related": related})
        assert (*status_and_code(answer), answer.json()["field"]) == (422, "BAD_USER_INPUT", field)
    assert await wiki.connection.fetchval("SELECT count(*) FROM pages") == 2
    created = await rest.create_page("Me", related=["entity/austin", "topic/austin"])
    assert created["related"] == ["austin", "austin"]
    assert {link["type"] for link in created["links"]} == {"entity", "topic"}
    await check_derived_rows(wiki)


async def test_a_slug_that_is_taken_is_a_conflict(rest: RestClient) -> None:
    await rest.create_page("Austin", slug="austin")
    answer = await rest.post("/pages", {"title": "Other", "type": "topic", "content": "", "slug": "austin"})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["field"]) == (409, "SLUG_TAKEN", "slug")


async def test_a_slug_shared_by_two_types_needs_the_type(rest: RestClient) -> None:
    await rest.create_page("Austin")
    await rest.create_page("Austin", "entity")
    for answer in (
        await rest.get("/pages/austin"),
        await rest.get("/pages/austin/history"),
        await rest.get("/pages/austin/links"),
        await rest.post("/pages/austin/edit", {"old_text": "Text", "new_text": "Word"}),
        await rest.ask("DELETE", "/pages/austin"),
    ):
        assert status_and_code(answer) == (409, "CONFLICT")
        assert answer.json()["types"] == ["entity", "topic"]
    assert (await rest.get("/pages/austin?type=entity")).json()["type"] == "entity"
    await rest.ask("DELETE", "/pages/austin?type=entity")
    assert (await rest.get("/pages/austin")).json()["type"] == "topic"


async def test_a_former_slug_finds_its_page(rest: RestClient, wiki: Wiki) -> None:
    saved = await create_page(wiki.database, wiki.scope, PageDraft(type="topic", title="Austin", body="Text."))
    await rename_page(wiki.database, wiki.scope, saved.page_id, slug="atx")
    page = (await rest.get("/pages/austin")).json()
    assert (page["slug"], page["redirected_from"]) == ("atx", "austin")
    edited = await rest.post("/pages/austin/edit", {"old_text": "Text", "new_text": "Word"})
    assert edited.json()["content"] == "Word."


async def test_an_archived_page_is_not_found_until_it_is_unarchived(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    assert (await rest.ask("DELETE", "/pages/austin")).json()["status"] == "archived"
    assert status_and_code(await rest.get("/pages/austin")) == (404, "NOT_FOUND")
    assert status_and_code(await rest.get("/pages/austin/history")) == (404, "NOT_FOUND")
    assert (await rest.get("/pages/austin?include_archived=true")).json()["status"] == "archived"
    assert (await rest.get("/pages")).json()["items"] == []
    assert [page["slug"] for page in (await rest.get("/pages?status=archived")).json()["items"]] == ["austin"]
    assert (await rest.post("/pages/austin/archive")).status_code == 200
    assert (await rest.post("/pages/austin/unarchive")).json()["status"] == "active"
    assert (await rest.get("/pages/austin")).status_code == 200
    await check_derived_rows(wiki)


async def test_archived_versions_are_compared_only_with_include_archived(rest: RestClient) -> None:
    await rest.create_page("Austin")
    await rest.ask("PUT", "/pages/austin", json={"title": "Austin", "content": "Other."})
    await rest.ask("DELETE", "/pages/austin")
    path = "/pages/austin/diff?from=1&to=1"
    assert status_and_code(await rest.get(path)) == (404, "NOT_FOUND")
    assert (await rest.get(f"{path}&include_archived=true")).status_code == 200


async def test_slugs_and_tags_match_in_any_unicode_normalization(rest: RestClient) -> None:
    """A client may send a letter and its mark as two characters where the page stores a single one."""
    whole, apart = "\u0439\u043e\u0433\u0430", "\u0438\u0306\u043e\u0433\u0430"
    await rest.create_page(whole, tags=[apart])
    for slug in (whole, apart):
        for query in ("", "?type=topic"):
            page = (await rest.get(f"/pages/{slug}{query}")).json()
            assert (page["slug"], page["tags"], page["redirected_from"]) == (whole, [whole], None)
        found = (await rest.get("/pages", params={"tag": slug})).json()
        assert [page["slug"] for page in found["items"]] == [whole]


async def test_pages_are_filtered_by_type_and_tag_and_paged(rest: RestClient) -> None:
    for n in range(3):
        await rest.create_page(f"Topic {n}", tags=["odd"] if n % 2 else ["even", "more"])
    await rest.create_page("Someone", "entity", tags=["even"])

    async def slugs(query: str) -> list[str]:
        return [page["slug"] for page in (await rest.get(f"/pages{query}")).json()["items"]]

    assert await slugs("") == ["someone", "topic-2", "topic-1", "topic-0"]
    assert await slugs("?type=topic&order=title") == ["topic-0", "topic-1", "topic-2"]
    assert await slugs("?type=topic&type=entity&tag=even&order=title") == ["someone", "topic-0", "topic-2"]
    assert await slugs("?tag=even&tag=more&order=title") == ["topic-0", "topic-2"]
    walked, cursor = [], ""
    while cursor is not None:
        page = (await rest.get("/pages?limit=3" + (f"&cursor={cursor}" if cursor else ""))).json()
        walked += [item["slug"] for item in page["items"]]
        cursor = page["next"]
    assert walked == ["someone", "topic-2", "topic-1", "topic-0"]


async def test_links_are_listed_in_each_direction(rest: RestClient) -> None:
    await rest.create_page("Austin", content="See [[Nowhere]].")
    await rest.create_page("Zilker", content="In [[Austin]].")

    async def slugs(path: str) -> list[tuple[str, bool]]:
        return [(link["slug"], link["broken"]) for link in (await rest.get(path)).json()["items"]]

    assert await slugs("/pages/zilker/links") == [("austin", False)]
    assert await slugs("/pages/austin/links?which=from") == [("zilker", False)]
    assert await slugs("/pages/austin/links?which=broken") == [("nowhere", True)]


async def test_versions_are_listed_read_compared_and_restored(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Austin", content="One.")
    await rest.post("/pages/austin/edit", {"old_text": "One", "new_text": "Two", "edit_summary": "Counted on"})
    history = (await rest.get("/pages/austin/history?limit=1")).json()
    first = (await rest.get(f"/pages/austin/history?cursor={history['next']}")).json()
    assert [entry["version"] for entry in history["items"] + first["items"]] == [2, 1]
    assert (history["items"][0]["edit_summary"], history["items"][0]["author_type"]) == ("Counted on", "user")
    assert first["next"] is None
    then = (await rest.get("/pages/austin?version=1")).json()
    assert (then["version"], then["content"]) == (1, "One.")
    assert status_and_code(await rest.get("/pages/austin?version=3")) == (404, "NOT_FOUND")
    difference = (await rest.get("/pages/austin/diff?from=1&to=2")).json()
    assert (difference["lines_added"], difference["lines_removed"]) == (1, 1)
    assert "-One." in difference["unified"]
    assert status_and_code(await rest.get("/pages/austin/diff?from=1&to=7")) == (404, "NOT_FOUND")
    restored = (await rest.post("/pages/austin/restore", {"version": 1})).json()
    assert (restored["version"], restored["content"]) == (3, "One.")
    assert status_and_code(await rest.post("/pages/austin/restore", {"version": 9})) == (404, "NOT_FOUND")
    await check_derived_rows(wiki)


async def test_an_edit_that_does_not_find_its_text_returns_the_closest_text(rest: RestClient) -> None:
    await rest.create_page("Austin", content="The river is green.\n\nAgain. Again.")
    failed = await rest.post("/pages/austin/edit", {"old_text": "The river was seen", "new_text": ""})
    assert status_and_code(failed) == (409, "EDIT_FAILED")
    assert failed.json()["nearest"]["line"] == 1
    assert failed.json()["passes_tried"][0] == "exact"
    doubtful = await rest.post("/pages/austin/edit", {"old_text": "Again.", "new_text": "Once."})
    assert status_and_code(doubtful) == (409, "EDIT_AMBIGUOUS")
    assert doubtful.json()["count"] == 2
    both = await rest.post("/pages/austin/edit", {"old_text": "Again.", "new_text": "Once.", "replace_all": True})
    assert both.json()["content"].endswith("Once. Once.")


async def test_a_page_of_another_wiki_answers_like_a_missing_page(
    rest: RestClient, service: Service, wiki: Wiki, dsn: str
) -> None:
    """The callers are a member of another owner in the tenant, and a member of another tenant."""
    await rest.create_page("Austin", content="Secret.")
    source = (await rest.post("/sources", {"kind": "document", "ref": "a", "content": "Secret."})).json()["id"]
    other, stranger = await wiki.neighbour(Role.MEMBER), await open_wiki(dsn)
    for foreign in (other, stranger):
        scope = foreign.scope
        client = RestClient(service.http, service.token(scope.tenant_id, scope.owner_id, Role.MEMBER))
        unknown = await client.get("/pages/nobody")
        edit = {"old_text": "Secret", "new_text": "Known"}
        for answer in (
            await client.get("/pages/austin"),
            await client.get("/pages/austin?type=topic"),
            await client.get("/pages/austin/history"),
            await client.get("/pages/austin/links"),
            await client.get("/pages/austin/diff?from=1&to=1"),
            await client.post("/pages/austin/edit", edit),
            await client.post("/pages/austin/restore", {"version": 1}),
            await client.ask("DELETE", "/pages/austin"),
        ):
            assert without_id(answer) == without_id(unknown)
        nowhere = await client.get("/sources/01900000-0000-7000-8000-000000000000")
        assert without_id(await client.get(f"/sources/{source}")) == without_id(nowhere)
        assert (await client.get("/search?q=secret")).json()["items"] == []
        owner = {"x-cairn-owner": str(wiki.scope.owner_id)}
        nobody = {"x-cairn-owner": "01900000-0000-7000-8000-000000000000"}
        there = await client.get("/pages/austin", headers=owner)
        assert status_and_code(there) == (403, "FORBIDDEN")
        assert without_id(there) == without_id(await client.get("/pages/austin", headers=nobody))
    await close_wiki(stranger)


def without_id(answer: httpx.Response) -> tuple[int, dict[str, object]]:
    return answer.status_code, {name: value for name, value in answer.json().items() if name != "request_id"}


async def test_the_owner_header_selects_another_wiki_of_the_credential(
    service: Service, rest: RestClient, wiki: Wiki
) -> None:
    other = await wiki.neighbour()
    there = {"x-cairn-owner": str(other.scope.owner_id)}
    created = await rest.post("/pages", {"title": "Austin", "type": "topic", "content": ""}, headers=there)
    assert created.status_code == 201
    assert len(await other.rows("pages")) == 1
    assert status_and_code(await rest.get("/pages/austin")) == (404, "NOT_FOUND")
    assert (await rest.get("/pages/austin", headers=there)).json()["id"] == created.json()["id"]


async def test_readers_can_read_and_cannot_write(rest: RestClient, service: Service, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    reader = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER))
    assert (await reader.get("/pages/austin")).status_code == 200
    for answer in (
        await reader.post("/pages", {"title": "T", "type": "topic", "content": ""}),
        await reader.post("/pages/austin/edit", {"old_text": "Text", "new_text": "Word"}),
        await reader.post("/pages/austin/archive"),
        await reader.post("/sources", {"kind": "url", "ref": "a", "content": "b"}),
    ):
        assert status_and_code(answer) == (403, "FORBIDDEN")


async def test_a_patch_changes_only_the_fields_that_it_names(rest: RestClient, wiki: Wiki) -> None:
    for title in ("Barton", "Zilker"):
        await rest.create_page(title)
    created = await rest.create_page("Austin", content="See [[Zilker]].", tags=["old"], related=["barton"])
    changed = await rest.ask("PATCH", "/pages/austin", json={"summary": "A city.", "edit_summary": "Said what it is"})
    assert changed.status_code == 200
    assert changed.json() == created | {
        "summary": "A city.",
        "version": 2,
        "updated_at": changed.json()["updated_at"],
    }
    assert (await rest.get("/pages/austin")).headers["etag"] == changed.headers["etag"]
    assert (await rest.get("/pages/austin/history")).json()["items"][0]["edit_summary"] == "Said what it is"
    every = {"title": "Austin, Texas", "summary": None, "tags": ["city"], "aliases": ["ATX"], "related": ["zilker"]}
    page = (await rest.ask("PATCH", "/pages/austin", json=every)).json()
    assert {name: page[name] for name in every} == every | {"aliases": ["atx", "austin texas"]}
    assert page["slug"] == "austin"
    assert [link["slug"] for link in page["links"]] == ["zilker"]
    bare = (await rest.ask("PATCH", "/pages/austin", json={"tags": [], "aliases": [], "related": []})).json()
    assert (bare["tags"], bare["aliases"], bare["related"]) == ([], ["austin texas"], [])
    assert [link["slug"] for link in bare["links"]] == ["zilker"], "links in the text are unchanged"
    again = await rest.ask("PATCH", "/pages/austin", json={"tags": [], "aliases": [], "related": []})
    assert again.json() == bare
    await check_derived_rows(wiki)


async def test_a_patch_that_is_refused_changes_nothing(rest: RestClient, wiki: Wiki) -> None:
    page = await rest.create_page("Austin")
    for body, field in (
        ({"related": ["nobody"], "summary": "x", "aliases": ["ATX"]}, "related.0"),
        ({"related": ["austin"]}, "related.0"),
        ({"title": None}, "title"),
        ({"title": " "}, "title"),
        ({"slug": "other"}, "slug"),
        ({"aliases": ["a", ""]}, "aliases.1"),
        ({}, "title"),
    ):
        answer = await rest.ask("PATCH", "/pages/austin", json=body)
        assert status_and_code(answer) == (422, "BAD_USER_INPUT"), body
        assert answer.json()["field"] == field
    assert (await rest.get("/pages/austin")).json() == page
    assert status_and_code(await rest.ask("PATCH", "/pages/nobody", json={"summary": "x"})) == (404, "NOT_FOUND")


async def test_a_patch_of_a_stale_version_is_refused(rest: RestClient) -> None:
    await rest.create_page("Austin")
    tag = (await rest.get("/pages/austin")).headers["etag"]
    key = {"if-match": tag, "idempotency-key": "p-1"}
    first = await rest.ask("PATCH", "/pages/austin", json={"summary": "A."}, headers=key)
    again = await rest.ask("PATCH", "/pages/austin", json={"summary": "A."}, headers=key)
    assert (first.status_code, again.content, again.headers["idempotency-replayed"]) == (200, first.content, "true")
    stale = await rest.ask("PATCH", "/pages/austin", json={"summary": "B."}, headers={"if-match": tag})
    assert status_and_code(stale) == (412, "PRECONDITION_FAILED")
    conflict = await rest.ask("PATCH", "/pages/austin", json={"summary": "B.", "expected_version": 1})
    assert (status_and_code(conflict), conflict.json()["current_version"]) == ((409, "CONFLICT"), 2)


async def test_readers_cannot_patch(rest: RestClient, service: Service, wiki: Wiki) -> None:
    await rest.create_page("Austin")
    reader = RestClient(service.http, service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER))
    assert status_and_code(await reader.ask("PATCH", "/pages/austin", json={"summary": "x"})) == (403, "FORBIDDEN")


async def test_updated_since_filters_lists_and_searches(rest: RestClient, wiki: Wiki) -> None:
    await rest.create_page("Old", content="Brisket.")
    await wiki.connection.execute("UPDATE pages SET updated_at = '2026-01-02T03:04:05Z'")
    await rest.create_page("New", content="Brisket.")
    for path, since, found in (
        ("/pages", "2026-01-02T03:04:05Z", {"old", "new"}),
        ("/pages", "2026-01-02T03:04:06", {"new"}),
        ("/pages", "2026-01-02T04:04:06%2B01:00", {"new"}),
        ("/pages", "2026-01-02", {"old", "new"}),
        ("/search?q=brisket", "2026-02-01", {"new"}),
        ("/search?q=brisket", "2026-01-01", {"old", "new"}),
    ):
        answer = await rest.get(f"{path}{'&' if '?' in path else '?'}updated_since={since}")
        assert {item["slug"] for item in answer.json()["items"]} == found, (path, since)
    for bad in ("yesterday", "7", "", "2026-01-02T04:04:06+01:00", "0001-01-01T00:00:00%2B14:00"):
        answer = await rest.get(f"/pages?updated_since={bad}")
        assert status_and_code(answer) == (422, "BAD_USER_INPUT"), bad


@pytest.mark.parametrize(
    ("path", "field", "known"),
    [
        ("/pages?typ=entity", "typ", "cursor, limit, order, status, tag, type, updated_since"),
        ("/pages?type=entity&Limit=3", "Limit", "cursor, limit, order, status, tag, type, updated_since"),
        ("/pages/austin?expand=links", "expand", "include_archived, type, version"),
        ("/search?q=a&page=2", "page", "cursor, in, limit, q, space, strict, tag, type, updated_since"),
        ("/sources/01a20000-0000-7000-8000-000000000000?x", "x", None),
    ],
)
async def test_an_unknown_query_parameter_is_refused_with_the_known_names(
    rest: RestClient, path: str, field: str, known: str | None
) -> None:
    answer = await rest.get(path)
    if path.endswith("?x"):
        answer = await rest.get(f"{path}=1")
    assert status_and_code(answer) == (422, "BAD_USER_INPUT")
    assert answer.json()["field"] == field
    assert (known or "This path has none.") in answer.json()["detail"]


async def test_a_write_with_an_unknown_query_parameter_writes_nothing(rest: RestClient, wiki: Wiki) -> None:
    answer = await rest.post("/pages?draft=true", {"title": "Austin", "type": "topic", "content": "x"})
    assert status_and_code(answer) == (422, "BAD_USER_INPUT")
    assert await wiki.rows("pages") == []
