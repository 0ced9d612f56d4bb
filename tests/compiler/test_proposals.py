"""The compiler proposes pages where its writes are reviewed, and writes none where they are refused."""

import orjson
import pytest

from db.scope import Role
from resolvers.errors import Conflict
from resolvers.jobs.queue import ask_for_compile
from resolvers.model.drafts import PageDraft
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.pages.sections import move_section
from resolvers.proposals.amending import Amendment
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole, checked_rules
from resolvers.proposals.proposals import accept_proposal
from resolvers.sources.retain import retain_sources
from resolvers.sources.sources import SourceDraft
from tests.compiler.scripted_compiler import compile_all
from tests.compiler.test_corrections import BEFORE, body, keep, rules
from tests.wiki import Wiki


async def set_policy(wiki: Wiki, policy: Policy) -> None:
    stored = checked_rules([PolicyRule(WriterRole.COMPILER, policy)])
    await wiki.connection.execute("UPDATE owners SET write_policy = $1", orjson.dumps(stored).decode())


async def test_reviewed_pages_wait_as_proposals_and_cite_sources_once_accepted(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    assert await wiki.rows("pages") == []
    proposals = await wiki.rows("proposals")
    assert proposals
    assert {(row["author_kind"], row["operation"], row["status"]) for row in proposals} == {
        ("compiler", "write_cited", "open")
    }
    await compile_all(wiki, rules())
    assert await wiki.rows("proposals") == proposals, "the sources were read"
    (ana,) = (row for row in proposals if row["title"] == "Ana Ruiz")
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"])
    assert "lives in Porto" in await body(wiki)
    cited = await wiki.rows("section_sources")
    assert {row["page_id"] for row in cited} == {done.page_id}
    (revision,) = await wiki.rows("revisions")
    assert revision["author_kind"] == "compiler"


async def test_a_wiki_closed_to_the_compiler_gets_neither_pages_nor_proposals(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.CLOSED)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    assert await wiki.rows("pages") == await wiki.rows("proposals") == []


def runs(*texts: str) -> list[SourceDraft]:
    return [SourceDraft("run", f"run-{n}", text, metadata={"person": "Bo Lind"}) for n, text in enumerate(texts)]


async def test_pages_from_runs_are_proposed_and_other_pages_are_written(wiki: Wiki) -> None:
    texts = [text.replace("Ana Ruiz", "Bo Lind") for text in BEFORE]
    await retain_sources(wiki.database, wiki.scope, runs(*texts[:2]))
    await keep(wiki, *BEFORE)
    await retain_sources(wiki.database, wiki.scope, runs(*texts)[2:])
    await compile_all(wiki, rules())
    assert {row["title"] for row in await wiki.rows("pages")} == {"Ana Ruiz"}
    proposals = await wiki.rows("proposals", status="open")
    assert {row["title"] for row in proposals} == {"Bo Lind"}
    assert {ref for row in proposals for ref in row["evidence"]} <= {f"run:run-{n}" for n in range(3)}
    done = await accept_proposal(wiki.database, wiki.scope, proposals[-1]["id"])
    assert done.page_id
    cited = {row["source_id"] for row in await wiki.rows("section_sources", page_id=done.page_id)}
    assert cited <= {row["id"] for row in await wiki.rows("sources", kind="run")}


async def test_mentions_of_runs_alone_become_proposals_and_no_pages(wiki: Wiki) -> None:
    for run in runs(*(text.replace("Ana Ruiz", "Bo Lind") for text in BEFORE)):
        await retain_sources(wiki.database, wiki.scope, [run])
        await compile_all(wiki, rules())
    assert await wiki.rows("pages") == []
    assert {row["title"] for row in await wiki.rows("proposals")} == {"Bo Lind"}


@pytest.mark.parametrize("is_queued_before", [False, True])
async def test_a_compile_with_the_propose_option_writes_no_page(wiki: Wiki, is_queued_before: bool) -> None:
    if not is_queued_before:
        await wiki.connection.execute("""UPDATE tenants SET settings = '{"compiling": false}'""")
    await keep(wiki, *BEFORE)
    await ask_for_compile(wiki.database, wiki.with_role(Role.ADMIN).scope, options={"propose": True})
    await compile_all(wiki, rules())
    assert await wiki.rows("pages") == []
    assert {row["title"] for row in await wiki.rows("proposals")} == {"Ana Ruiz"}
    (job, *_) = await wiki.rows("compile_jobs", "created_at")
    assert job["metrics"]["pages_proposed"] == 1


@pytest.mark.parametrize("text", ["## Notes\n\nShe lives in Porto.", "## Life\n\nShe lives in Porto."])
async def test_a_reviewer_may_leave_out_or_rename_sections_of_a_compiled_page(wiki: Wiki, text: str) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (ana,) = (row for row in await wiki.rows("proposals") if row["title"] == "Ana Ruiz")
    slugs = {slug for slug, _ in ana["arguments"]["citations"]}
    assert slugs == {"overview", "notes"}
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"], Amendment(body=text))
    assert done.page_id
    (section,) = await wiki.rows("sections", page_id=done.page_id)
    assert section["body_md"] == "She lives in Porto."
    assert bool(await wiki.rows("section_sources")) == (section["section_slug"] in slugs)


async def test_a_compiled_page_is_merged_with_a_page_that_was_created_meanwhile(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (ana,) = (row for row in await wiki.rows("proposals") if row["title"] == "Ana Ruiz")
    text = "## Overview\n\nMine.\n\n## Own\n\nOf me."
    draft = PageDraft("entity", "Ana Ruiz", summary="A friend.", body=text, tags=["me"])
    page = await create_page(wiki.database, wiki.scope, draft)
    with pytest.raises(Conflict, match='Both this proposal and version 1 of the page change "overview"'):
        await accept_proposal(wiki.database, wiki.scope, ana["id"])
    await update_page(wiki.database, wiki.scope, page.page_id, body="## Own\n\nOf me.")
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"])
    assert (done.page_id, done.version) == (page.page_id, 3)
    row = await wiki.page(page.page_id)
    assert (row["summary"], row["tags"]) == ("A friend.", ["me"])
    sections = {row["section_slug"]: row["body_md"] for row in await wiki.rows("sections", page_id=page.page_id)}
    assert sections.keys() == {"own", "overview", "notes"}
    assert sections["own"] == "Of me."
    assert {row["page_id"] for row in await wiki.rows("section_sources")} == {page.page_id}


async def test_citations_stay_with_their_sections_where_a_reviewer_moves_them(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (ana,) = (row for row in await wiki.rows("proposals") if row["title"] == "Ana Ruiz")
    overview, _, notes = ana["proposed_body"].partition("\n\n## Notes")
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"], Amendment(body=f"## Notes{notes}\n\n{overview}"))
    sections = await wiki.rows("sections", "position", page_id=done.page_id)
    assert [(row["section_slug"], row["heading"]) for row in sections] == [("notes", "Notes"), ("overview", "Overview")]


async def test_citations_stay_with_a_section_to_which_a_reviewer_gives_another_heading(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (ana,) = (row for row in await wiki.rows("proposals") if row["title"] == "Ana Ruiz")
    text = ana["proposed_body"].replace("## Overview", "## About her")
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"], Amendment(body=text))
    sections = await wiki.rows("sections", "position", page_id=done.page_id)
    assert [(row["section_slug"], row["heading"]) for row in sections] == [
        ("overview", "About her"),
        ("notes", "Notes"),
    ]
    assert len(await wiki.rows("section_sources")) == len(ana["arguments"]["citations"])


async def test_citations_stay_with_sections_that_a_reviewer_moves_and_gives_other_headings(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (ana,) = (row for row in await wiki.rows("proposals") if row["title"] == "Ana Ruiz")
    overview, _, notes = ana["proposed_body"].removeprefix("## Overview").partition("\n\n## Notes")
    text = f"## Remarks{notes}\n\n## About her{overview}"
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"], Amendment(body=text))
    sections = await wiki.rows("sections", "position", page_id=done.page_id)
    assert [(row["section_slug"], row["heading"]) for row in sections] == [
        ("notes", "Remarks"),
        ("overview", "About her"),
    ]


async def test_citations_stay_with_their_sections_where_they_were_moved_since(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (page,) = await wiki.rows("pages", title="Ana Ruiz")
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, "Ana Ruiz has sold the bakery in Porto to her sister.", start=10)
    await compile_all(wiki, rules())
    (ana,) = await wiki.rows("proposals", title="Ana Ruiz", status="open")
    await move_section(wiki.database, wiki.scope, page["id"], section_slug="notes", position=0)
    await accept_proposal(wiki.database, wiki.scope, ana["id"])
    sections = await wiki.rows("sections", "position", page_id=page["id"])
    assert [(row["section_slug"], row["heading"]) for row in sections] == [("notes", "Notes"), ("overview", "Overview")]


async def test_what_people_changed_besides_the_text_stays_when_a_compiled_update_is_accepted(wiki: Wiki) -> None:
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    (page,) = await wiki.rows("pages", title="Ana Ruiz")
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, "Ana Ruiz has sold the bakery in Porto to her sister.", start=10)
    await compile_all(wiki, rules())
    (ana,) = await wiki.rows("proposals", title="Ana Ruiz", status="open")
    given = {"title": "Ana Ruiz Gomes", "slug": "ana", "summary": "A friend.", "tags": ["me"], "metadata": {"since": 1}}
    await update_page(wiki.database, wiki.scope, page["id"], **given)
    done = await accept_proposal(wiki.database, wiki.scope, ana["id"])
    row = await wiki.page(page["id"])
    assert (done.page_id, {name: row[name] for name in given}) == (page["id"], given)
    assert "sold the bakery" in row["body_md"]


async def test_an_earlier_proposal_of_a_page_does_not_replace_a_later_one_that_was_accepted(wiki: Wiki) -> None:
    await set_policy(wiki, Policy.REVIEW)
    await keep(wiki, *BEFORE)
    await compile_all(wiki, rules())
    later = ("sold the bakery", "bought a boat", "went to Lisbon")
    await keep(wiki, *(f"Ana Ruiz {did} with her sister." for did in later), start=10)
    await compile_all(wiki, rules())
    first, second = await wiki.rows("proposals", title="Ana Ruiz")
    done = await accept_proposal(wiki.database, wiki.scope, second["id"])
    with pytest.raises(Conflict):
        await accept_proposal(wiki.database, wiki.scope, first["id"])
    assert done.page_id
    assert (await wiki.page(done.page_id))["body_md"] == second["proposed_body"]
