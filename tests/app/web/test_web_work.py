"""The work pages of the reader: proposals are created and decided, mentions ignored, pages merged and moved."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.pages.work import diff_hunks
from content.edits.differences import REST_NOT_SHOWN, difference, unified_diff
from db.scope import Actor, ActorKind, Review, Role, Scope, Terms
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.pages.sections import patch_section
from resolvers.proposals.gate import Policy, PolicyRule, ReviewRequired, WriterRole
from resolvers.sources.mentions import record_mention
from schema.pages.proposals import format_difference
from tests.app.clients.web_client import SAME_ORIGIN, add_page, signed_in
from tests.app.service import Service
from tests.app.web.test_web_writing import TEXTAREA, form_of
from tests.wiki import Wiki

BODY = "## Tides\n\nLow at six.\n\n## Boats\n\nThree of them."
PROPOSAL_PATH = re.compile(r"/proposal/[^/]+/([0-9a-f-]{36})")


@pytest.fixture
async def page_id(wiki: Wiki) -> UUID:
    """A page of a wiki in which writes of members are reviewed."""
    await add_page(wiki, "Harbour", BODY)
    rules = (PolicyRule(WriterRole.MEMBER, Policy.REVIEW),)
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(write_policy=rules))
    return UUID(str((await wiki.row("pages", slug="harbour"))["id"]))


@pytest.fixture
def ada(wiki: Wiki) -> Scope:
    return replace(wiki.with_role(Role.MEMBER).scope, actor=Actor(ActorKind.AGENT, "ada"))


@pytest.fixture
async def member(service: Service, wiki: Wiki) -> AsyncIterator[httpx.AsyncClient]:
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.MEMBER)
    async with signed_in(service, token) as browser:
        yield browser


async def propose(wiki: Wiki, ada: Scope, page_id: UUID, text: str, section: str = "tides") -> str:
    """Create a proposal of Ada's and return its id."""
    with pytest.raises(ReviewRequired) as review:
        await patch_section(wiki.database, ada, page_id, section_slug=section, body=text, edit_summary="Seen today")
    return str(review.value.proposal_id)


async def test_an_edit_under_review_redirects_to_its_proposal(
    member: httpx.AsyncClient, browser: httpx.AsyncClient, page_id: UUID, owner: str
) -> None:
    path = f"{owner}/topic/harbour"
    form = form_of(await member.get(f"/edit/{path}?section=tides"))
    change = form | {"heading": "Tides", "body": "Low at seven.", "edit_summary": "Seen today"}
    sent = await member.post(f"/edit/{path}", data=change, headers=SAME_ORIGIN)
    assert sent.status_code == 303
    shown = (await member.get(sent.headers["location"])).text
    assert "Your change was not made yet" in shown
    assert re.findall(r"<(ins|del)>(.*?)</\1>", shown) == [("del", "six"), ("ins", "seven")]
    assert "/accept/" not in shown
    assert "/withdraw/" in shown
    assert "Low at six" in (await browser.get(f"/wiki/{path}")).text
    assert PROPOSAL_PATH.search(sent.headers["location"])[1] in (await browser.get(f"/work/{owner}")).text  # type: ignore[index]


@pytest.mark.parametrize("action", ["archive", "rename", "new", "move", "unarchive"])
async def test_every_form_of_a_writer_under_review_makes_a_proposal(
    member: httpx.AsyncClient, browser: httpx.AsyncClient, page_id: UUID, owner: str, action: str
) -> None:
    path = f"{owner}/topic/harbour"
    given = {"id": str(page_id), "version": "1", "title": "Port", "slug": "", "to": str(page_id), "body": "x",
             "type": "topic", "summary": "", "tags": ""}  # fmt: skip
    if action == "move":
        await browser.post(f"/new/{owner}", data=given | {"title": "Coast"}, headers=SAME_ORIGIN)
        found = await browser.get(f"/move/{path}?name=coast")
        given |= {"to": re.findall(r'name="to" value="([^"]+)"', found.text)[0]}
    if action == "unarchive":
        await browser.post(f"/archive/{path}", data=given, headers=SAME_ORIGIN)
    sent = await member.post(
        f"/new/{owner}" if action == "new" else f"/{action}/{path}", data=given, headers=SAME_ORIGIN
    )
    assert (sent.status_code, bool(PROPOSAL_PATH.match(sent.headers["location"]))) == (303, True)
    assert (await member.get(sent.headers["location"])).status_code == 200


async def test_a_reviewer_reads_and_accepts_a_proposal(
    browser: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    assert "Seen today" in (await browser.get(f"/proposals/{owner}")).text
    shown = (await browser.get(f"/proposal/{owner}/{id}")).text
    assert "Proposed by ada" in shown
    done = await browser.post(f"/accept/{owner}/{id}", data={"reason": "Thanks"}, headers=SAME_ORIGIN)
    assert done.headers["location"] == f"/wiki/{owner}/topic/harbour"
    assert "Low at seven" in (await browser.get(done.headers["location"])).text
    again = await browser.post(f"/accept/{owner}/{id}", data={"reason": ""}, headers=SAME_ORIGIN)
    assert (again.status_code, "no longer open" in again.text) == (409, True)
    assert f"/proposal/{owner}/{id}" in (await browser.get(f"/proposals/{owner}?status=accepted")).text


async def test_evidence_that_looks_like_an_address_is_shown(
    browser: httpx.AsyncClient, ada: Scope, wiki: Wiki, page_id: UUID, owner: str
) -> None:
    refs = "https://tides.example/", "http://[tides", "daily_note:day-1"
    citing = replace(ada, review=Review(terms=Terms("Seen today", refs)))
    id = await propose(wiki, citing, page_id, "Low at seven.")
    answer = await browser.get(f"/proposal/{owner}/{id}")
    assert answer.status_code == 200
    assert 'href="https://tides.example/"' in answer.text
    assert all(ref in answer.text for ref in refs)


async def test_a_reviewer_is_told_that_a_part_of_a_long_proposal_is_not_shown(
    browser: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    days = "\n".join(f"Day {number}." for number in range(10))
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="tides", body=f"Low at six.\n{days}")
    hidden = "\n".join(f"Tide {number}." for number in range(5_001))
    id = await propose(wiki, ada, page_id, f"Low at seven.\n{days}\n{hidden}")
    shown = (await browser.get(f"/proposal/{owner}/{id}")).text
    assert "Tide 1." not in shown.partition('class="diff"')[2].partition("</section>")[0].partition("<details>")[0]
    assert "the rest is not shown" in shown
    assert "Tide 5000." in shown
    short = await propose(wiki, ada, page_id, f"Low at eight.\n{days}")
    assert "not shown" not in (await browser.get(f"/proposal/{owner}/{short}")).text
    for in_words in (True, False):
        assert await format_difference(None, hidden, in_words=in_words) == REST_NOT_SHOWN
        assert REST_NOT_SHOWN not in await format_difference(days, "Low.", in_words=in_words)


async def test_a_reviewer_accepts_a_proposal_with_an_amended_text(
    browser: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    shown = await browser.get(f"/proposal/{owner}/{id}")
    [text] = TEXTAREA.findall(shown.text)
    given = {"version": "1", "title": "Harbour", "title_before": "Harbour", "summary": "", "summary_before": ""}
    changed = text.replace("seven", "half past six")
    done = await browser.post(f"/accept/{owner}/{id}", data=given | {"body": changed}, headers=SAME_ORIGIN)
    assert done.status_code == 303
    page = await wiki.page(page_id)
    assert (page["title"], page["body_md"]) == ("Harbour", BODY.replace("six", "half past six"))


async def test_a_conflicting_proposal_is_accepted_with_a_merged_text(
    browser: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="tides", body="Low at five.")
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="boats", body="Four of them.")
    refused = await browser.post(f"/accept/{owner}/{id}", data={"reason": ""}, headers=SAME_ORIGIN)
    assert (refused.status_code, "in the same sections: tides" in refused.text) == (409, True)
    [text] = TEXTAREA.findall(refused.text)
    assert text == BODY.replace("six", "seven").replace("Three", "Four")
    [version] = re.findall(r'name="version" value="(\d+)"', refused.text)
    done = await browser.post(f"/accept/{owner}/{id}", data={"version": version, "body": text}, headers=SAME_ORIGIN)
    assert done.status_code == 303
    assert (await wiki.page(page_id))["body_md"] == text


async def test_an_amended_text_that_cannot_be_accepted_is_shown_again(
    browser: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    titles = {"title": "H" * 600, "title_before": "Harbour", "summary": "Mine.", "summary_before": ""}
    given = {"version": "1", "body": BODY.replace("six", "eight"), "reason": "Measured."} | titles
    refused = await browser.post(f"/accept/{owner}/{id}", data=given, headers=SAME_ORIGIN)
    assert refused.status_code == 422
    assert TEXTAREA.findall(refused.text) == [given["body"]]
    assert all(f'value="{given[name]}"' in refused.text for name in ("title", "summary", "reason"))
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="tides", body="Low at five.")
    await patch_section(wiki.database, wiki.scope, page_id, section_slug="boats", body="Four of them.")
    changed = given | {"title": "Harbour"}
    refused = await browser.post(f"/accept/{owner}/{id}", data=changed, headers=SAME_ORIGIN)
    assert refused.status_code == 409
    [text] = TEXTAREA.findall(refused.text)
    assert text == BODY.replace("six", "eight").replace("Three", "Four")
    [version] = re.findall(r'name="version" value="(\d+)"', refused.text)
    again = changed | {"body": text, "version": version}
    assert (await browser.post(f"/accept/{owner}/{id}", data=again, headers=SAME_ORIGIN)).status_code == 303
    page = await wiki.page(page_id)
    assert (page["summary"], page["body_md"]) == ("Mine.", text)


async def test_a_proposal_is_declined_with_a_reason_or_withdrawn(
    browser: httpx.AsyncClient, member: httpx.AsyncClient, wiki: Wiki, ada: Scope, page_id: UUID, owner: str
) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    assert (await browser.post(f"/decline/{owner}/{id}", data={"reason": " "}, headers=SAME_ORIGIN)).status_code == 422
    assert (await member.post(f"/decline/{owner}/{id}", data={"reason": "No"}, headers=SAME_ORIGIN)).status_code == 403
    assert (await member.post(f"/withdraw/{owner}/{id}", data={"reason": ""}, headers=SAME_ORIGIN)).status_code == 422
    assert (
        await browser.post(f"/decline/{owner}/{id}", data={"reason": "It is <six>."}, headers=SAME_ORIGIN)
    ).status_code == 303
    assert "It is &lt;six&gt;." in (await browser.get(f"/proposal/{owner}/{id}")).text
    form = form_of(await member.get(f"/edit/{owner}/topic/harbour")) | {"body": "Other.", "summary": "", "tags": ""}
    own = (await member.post(f"/edit/{owner}/topic/harbour", data=form, headers=SAME_ORIGIN)).headers["location"]
    gone = await member.post(
        own.split("?")[0].replace("/proposal/", "/withdraw/"), data={"reason": ""}, headers=SAME_ORIGIN
    )
    assert gone.status_code == 303
    assert "Withdrawn" in (await member.get(own)).text


async def test_readers_see_no_proposals(service: Service, wiki: Wiki, ada: Scope, page_id: UUID, owner: str) -> None:
    id = await propose(wiki, ada, page_id, "Low at seven.")
    token = service.token(wiki.scope.tenant_id, wiki.scope.owner_id, Role.READER)
    async with signed_in(service, token) as reader:
        assert id not in (await reader.get(f"/proposals/{owner}")).text
        assert (await reader.get(f"/proposal/{owner}/{id}")).status_code == 404
        work = await reader.get(f"/work/{owner}")
        assert (work.status_code, 'id="contradictions"' in work.text) == (200, True)
        assert not any(name in work.text for name in ('id="proposals"', 'id="lint"', "<button>"))


async def test_a_mention_is_ignored(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    source = await wiki.add_source(content="Zilker was there.")
    await record_mention(wiki.database, wiki.scope, name="Zilker", source_id=source)
    shown = await browser.get(f"/work/{owner}")
    [id] = re.findall(r'/ignore/[^"]+"><input type="hidden" name="id" value="([^"]+)"', shown.text)
    assert (await browser.post(f"/ignore/{owner}", data={"id": id}, headers=SAME_ORIGIN)).status_code == 303
    assert "Zilker" not in (await browser.get(f"/work/{owner}")).text


# -- merging and moving


async def test_a_page_is_merged_into_another_page_found_by_name(
    browser: httpx.AsyncClient, wiki: Wiki, owner: str
) -> None:
    await add_page(wiki, "Barton Springs", "Cold.")
    path = f"{owner}/topic/{await add_page(wiki, 'The Springs', 'A pool.')}"
    await add_page(wiki, "Austin", "See [[The Springs]].")
    assert "1 text link to this page" in (await browser.get(f"/merge/{path}")).text
    assert "There is no page called" in (await browser.get(f"/merge/{path}?name=nothing")).text
    found = await browser.get(f"/merge/{path}?name=barton+springs")
    [into] = re.findall(r'name="to" value="([^"]+)"', found.text)
    done = await browser.post(f"/merge/{path}", data=form_of(found) | {"to": into}, headers=SAME_ORIGIN)
    assert done.headers["location"] == f"/wiki/{owner}/topic/barton-springs"
    assert (await browser.get(f"/wiki/{path}")).headers["location"] == done.headers["location"]
    assert "A pool." in (await browser.get(done.headers["location"])).text


async def test_a_page_is_moved_below_a_parent_and_out_again(browser: httpx.AsyncClient, wiki: Wiki, owner: str) -> None:
    await add_page(wiki, "Texas", "Large.", type="entity")
    path = f"{owner}/topic/{await add_page(wiki, 'Austin', 'Hot.')}"
    found = await browser.get(f"/move/{path}?name=Texas")
    [above] = re.findall(r'name="to" value="([^"]+)"', found.text)
    given = form_of(found) | {"to": above}
    assert (await browser.post(f"/move/{path}", data=given, headers=SAME_ORIGIN)).status_code == 303
    assert f'<li><a href="/wiki/{owner}/entity/texas">Texas</a></li>' in (await browser.get(f"/wiki/{path}")).text
    assert (
        await browser.post(f"/move/{path}", data=given | {"to": given["id"]}, headers=SAME_ORIGIN)
    ).status_code == 422
    assert (await browser.post(f"/move/{path}", data=given | {"to": ""}, headers=SAME_ORIGIN)).status_code == 422
    assert (await browser.post(f"/move/{path}", data=given | {"to": "none"}, headers=SAME_ORIGIN)).status_code == 303
    assert "/entity/texas" not in (await browser.get(f"/wiki/{path}")).text


# -- the difference


LINES = st.lists(st.sampled_from(["one two", "one three", "", "@@ x", "- y", "\\ z", "<b>"]), max_size=12)


@given(LINES, LINES)
def test_the_shown_difference_has_every_line_of_the_diff(old: list[str], new: list[str]) -> None:
    found = difference("".join(line + "\n" for line in old), "".join(line + "\n" for line in new))
    for shown, hunk in zip(diff_hunks(unified_diff(found, "a", "b")), found.hunks, strict=True):
        for side in ("REMOVED", "ADDED"):
            seen = ["".join(text for text, _ in line["pieces"]) for line in shown if line["kind"] in (side, "CONTEXT")]
            assert seen == [line.text for line in hunk.lines if line.kind.upper() in (side, "CONTEXT")]
