"""Superseded claims of pages: recorded once with their sources, and shown to readers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from db.scope import Role
from resolvers.errors import BadInput, Conflict, Forbidden, NotFound
from resolvers.model.drafts import PageDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.claims.claims import Mode, SourceRef, supersede_claim, withdraw_claim
from resolvers.pages.edits import EditAmbiguous, EditFailed
from resolvers.pages.history import restore_state
from resolvers.pages.lifecycle import create_page, delete_page
from resolvers.pages.merging import merge_pages
from resolvers.sources.sources import SourceDraft, add_source
from tests.wiki import Wiki

BODY = "The ledger runs on Postgres.\n\n## Notes\n\nBackups are nightly. The team is four people."
MARCH = datetime(2026, 3, 2, tzinfo=UTC)
FIRST, SECOND = SourceRef("daily_note", "2026-01-10"), SourceRef("daily_note", "2026-03-02")


@pytest.fixture
async def page(wiki: Wiki) -> PageAddress:
    for source, content, day in ((FIRST, "We picked Postgres.", 10), (SECOND, "We switched to MySQL.", 20)):
        at = MARCH if source is SECOND else datetime(2026, 1, day, tzinfo=UTC)
        await add_source(wiki.database, wiki.scope, SourceDraft(source.kind, source.ref, content, captured_at=at))
    draft = PageDraft("project", "Ledger", body=BODY)
    return PageAddress((await create_page(wiki.database, wiki.scope, draft)).page_id)


async def supersede(wiki: Wiki, page: PageAddress, fact: str, replacement: str, **more: Any) -> Any:
    return await supersede_claim(wiki.database, wiki.scope, page, fact=fact, replacement=replacement, **more)


async def body(wiki: Wiki) -> str:
    return str((await wiki.rows("pages"))[0]["body_md"])


async def test_superseding_a_claim_changes_the_text_and_records_the_old_fact(wiki: Wiki, page: PageAddress) -> None:
    done = await supersede(
        wiki, page, "The ledger runs on Postgres.", "The ledger runs on MySQL.", stated_by=FIRST, overridden_by=SECOND
    )
    assert (done.saved.version, done.saved.changed) == (2, True)
    assert await body(wiki) == BODY.replace("Postgres", "MySQL")
    (claim,) = await wiki.rows("superseded_claims")
    assert (claim["fact"], claim["replacement"]) == ("The ledger runs on Postgres.", "The ledger runs on MySQL.")
    assert (claim["section_slug"], claim["superseded_on"], claim["id"]) == ("overview", MARCH, done.claim_id)
    sources = {row["ref"]: row["id"] for row in await wiki.rows("sources")}
    assert (claim["stated_by_id"], claim["overridden_by_id"]) == (sources[FIRST.ref], sources[SECOND.ref])
    (cited,) = await wiki.rows("section_sources")
    assert cited["source_id"] == sources[SECOND.ref]
    assert (await wiki.actions())[-1] == "claim.superseded"
    assert [row["version"] for row in await wiki.rows("revisions", "version")] == [1, 2]


async def test_repeating_a_correction_changes_nothing(wiki: Wiki, page: PageAddress) -> None:
    first = await supersede(wiki, page, "on Postgres", "on MySQL", overridden_by=SECOND, expected_version=1)
    again = await supersede(wiki, page, "On  postgres", "on MySQL", overridden_by=SECOND, expected_version=1)
    assert (again.saved.changed, again.saved.version, again.claim_id) == (False, 2, first.claim_id)
    assert len(await wiki.rows("superseded_claims")) == 1


async def test_a_fact_matches_regardless_of_whitespace(wiki: Wiki, page: PageAddress) -> None:
    done = await supersede(wiki, page, "The ledger\nruns  on Postgres.", "It runs on MySQL.")
    assert done.edited.matched_by == "whitespace"
    assert (await body(wiki)).startswith("It runs on MySQL.\n")


async def test_a_fact_that_does_not_match_the_page_is_refused_and_writes_nothing(wiki: Wiki, page: PageAddress) -> None:
    with pytest.raises(EditFailed):
        await supersede(wiki, page, "The ledger runs on Oracle.", "The ledger runs on MySQL.")
    with pytest.raises(EditFailed):
        await supersede(wiki, page, "runs on Postgres", "runs on MySQL", section_slug="notes")
    with pytest.raises(EditAmbiguous):
        await supersede(wiki, page, "The", "A")
    with pytest.raises(NotFound):
        await supersede(wiki, page, "on Postgres", "on MySQL", section_slug="nowhere", mode=Mode.NONE)
    with pytest.raises(Conflict):
        await supersede(wiki, page, "on Postgres", "on MySQL", expected_version=7)
    assert (await body(wiki), await wiki.rows("superseded_claims")) == (BODY, [])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"fact": " "}, "fact"),
        ({"replacement": ""}, "replacement"),
        ({"replacement": " on  Postgres"}, "replacement"),
        ({"fact": "x" * 2001}, "fact"),
        ({"overridden_by": SourceRef("daily_note", "2027")}, "overriddenBy.ref"),
        ({"stated_by": SourceRef("rumour", "2027")}, "statedBy.kind"),
        ({"superseded_on": datetime(1, 1, 1)}, "supersededOn"),
        ({"fact": "The ledger runs on Postgres.", "replacement": "```\nopen"}, "replacement"),
    ],
)
async def test_invalid_input_is_refused_with_its_field(
    wiki: Wiki, page: PageAddress, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadInput) as refused:
        await supersede(wiki, page, **({"fact": "on Postgres", "replacement": "on MySQL"} | given))
    assert refused.value.field == field
    assert await wiki.rows("superseded_claims") == []


@pytest.mark.parametrize(
    ("mode", "fact", "replacement", "notes"),
    [
        (Mode.MERGE, "Backups are nightly. ", "The team is four people.", "The team is four people."),
        (Mode.MERGE, "nightly", "hourly", "Backups are hourly. The team is four people."),
        (Mode.APPEND, "three people", "They are.", "Backups are nightly. The team is four people.\n\nThey are."),
        (Mode.NONE, "three people", "four people", "Backups are nightly. The team is four people."),
    ],
)  # fmt: skip
async def test_the_mode_determines_how_the_text_changes(
    wiki: Wiki, page: PageAddress, mode: Mode, fact: str, replacement: str, notes: str
) -> None:
    await supersede(wiki, page, fact, replacement, mode=mode, section_slug="notes")
    assert (await body(wiki)).partition("## Notes\n\n")[2].strip() == notes
    (claim,) = await wiki.rows("superseded_claims")
    assert (claim["section_slug"], claim["heading"]) == ("notes", "Notes")


QUOTED = "- 2026-01-10: “We use Kafka for orders.” “Orders are many.” [^a]\n- 2026-01-11: “The team is four.” [^b]"


@pytest.mark.parametrize(
    ("fact", "replacement", "lines"),
    [
        (
            "The team is four.",
            "The team is five.",
            "- 2026-01-10: “We use Kafka for orders.” “Orders are many.” [^a]\n- The team is five.",
        ),
        (
            "Kafka",
            "NATS",
            "- 2026-01-10: “Orders are many.” [^a]\n- We use NATS for orders.\n- 2026-01-11: “The team is four.” [^b]",
        ),
        (
            "many.” [^a]\n- 2026-01-11: “The team is four.”",
            "Nobody “orders”.",
            "- 2026-01-10: “We use Kafka for orders.” [^a]\n- Nobody “orders”.",
        ),
    ],
)  # fmt: skip
async def test_a_replaced_quote_is_no_longer_attributed_to_its_source(
    wiki: Wiki, fact: str, replacement: str, lines: str
) -> None:
    await create_page(wiki.database, wiki.scope, PageDraft("project", "Shop", body=QUOTED))
    await supersede(wiki, PageAddress(type="project", slug="shop"), fact, replacement)
    assert await body(wiki) == lines


async def test_a_replaced_quote_inside_a_sentence_loses_its_quotation_marks(wiki: Wiki) -> None:
    sentence = "Ana said “we use Kafka”, and Bo “rarely” [^a]."
    await create_page(wiki.database, wiki.scope, PageDraft("project", "Shop", body=sentence))
    await supersede(wiki, PageAddress(type="project", slug="shop"), "Kafka", "NATS")
    assert await body(wiki) == "Ana said we use NATS, and Bo “rarely” [^a]."


async def test_a_claim_without_a_text_change_updates_the_time_of_the_page(wiki: Wiki, page: PageAddress) -> None:
    before = (await wiki.rows("pages"))[0]["updated_at"]
    done = await supersede(wiki, page, "three people", "four people", mode=Mode.NONE)
    assert (done.saved.version, (await wiki.rows("pages"))[0]["updated_at"] > before) == (1, True)
    (claim,) = await wiki.rows("superseded_claims")
    assert claim["section_slug"] is None


async def test_superseding_a_withdrawn_claim_again_restores_the_claim(wiki: Wiki, page: PageAddress) -> None:
    done = await supersede(wiki, page, "on Postgres", "on MySQL")
    assert (await withdraw_claim(wiki.database, wiki.scope, done.claim_id)).saved.changed
    assert not (await withdraw_claim(wiki.database, wiki.scope, done.claim_id)).saved.changed
    (row,) = await wiki.rows("superseded_claims")
    assert row["withdrawn_at"] is not None
    again = await supersede(wiki, page, "on Postgres", "on MySQL", mode=Mode.NONE)
    (row,) = await wiki.rows("superseded_claims")
    assert (again.claim_id, row["withdrawn_at"]) == (done.claim_id, None)


async def test_a_restored_claim_has_the_replacement_that_holds_now(wiki: Wiki, page: PageAddress) -> None:
    await wiki.add_source(ref="notes", content="It is on SQLite.\n")
    done = await supersede(wiki, page, "on Postgres", "on MySQL")
    await withdraw_claim(wiki.database, wiki.scope, done.claim_id)
    stated = SourceRef("document", "notes")
    again = await supersede(wiki, page, "on Postgres", "on SQLite", mode=Mode.NONE, stated_by=stated)
    (row,) = await wiki.rows("superseded_claims")
    assert (row["id"], row["withdrawn_at"], row["replacement"]) == (again.claim_id, None, "on SQLite")
    assert row["stated_by_id"] is not None


async def test_restoring_a_version_withdraws_later_claims_whose_replacement_it_removes(
    wiki: Wiki, page: PageAddress
) -> None:
    async def standing() -> list[str]:
        rows = await wiki.rows("superseded_claims")
        return [row["fact"] for row in rows if row["withdrawn_at"] is None]

    assert page.page_id
    await supersede(wiki, page, "three people", "four people", mode=Mode.NONE)
    await supersede(wiki, page, "are nightly", "are hourly")
    for fact, replacement in (("on Postgres", "on MySQL"), ("on MySQL", "on SQLite")):
        await supersede(wiki, page, fact, replacement)
    await restore_state(wiki.database, wiki.scope, page.page_id, 3)
    assert await standing() == ["three people", "are nightly", "on Postgres"]
    assert "on SQLite" not in (await wiki.row("pages", slug="ledger-trajectory"))["body_md"]
    await restore_state(wiki.database, wiki.scope, page.page_id, 1)
    assert await standing() == ["three people"]
    assert (await wiki.row("pages", slug="ledger-trajectory"))["status"] == "archived"


async def test_a_merge_moves_claims_to_the_remaining_page(wiki: Wiki, page: PageAddress) -> None:
    draft = PageDraft("project", "Accounts", body="The ledger runs on Postgres.\n\n## Plans\n\nNone.")
    other = PageAddress((await create_page(wiki.database, wiki.scope, draft)).page_id)
    for address in (page, other):
        await supersede(wiki, address, "on Postgres", "on MySQL")
    await supersede(wiki, other, "None.", "Many.", section_slug="plans")
    assert page.page_id
    assert other.page_id
    await merge_pages(wiki.database, wiki.scope, other.page_id, page.page_id)
    rows = await wiki.rows("superseded_claims", "id")
    assert sorted(row["fact"] for row in rows if row["page_id"] == page.page_id) == ["None.", "on Postgres"]
    assert [row["section_slug"] for row in rows if row["fact"] == "None."] == ["plans"]


async def test_deleting_a_page_deletes_its_claims(wiki: Wiki, page: PageAddress) -> None:
    await supersede(wiki, page, "on Postgres", "on MySQL", overridden_by=SECOND)
    assert page.page_id
    await delete_page(wiki.database, wiki.scope, page.page_id)
    assert await wiki.rows("superseded_claims") == []


async def test_superseding_and_withdrawing_claims_require_write_permission(wiki: Wiki, page: PageAddress) -> None:
    done = await supersede(wiki, page, "on Postgres", "on MySQL")
    reader = wiki.with_role(Role.READER)
    with pytest.raises(Forbidden):
        await supersede(reader, page, "nightly", "hourly")
    with pytest.raises(Forbidden):
        await withdraw_claim(wiki.database, reader.scope, done.claim_id)
    stranger = await wiki.neighbour(Role.MEMBER)
    with pytest.raises(NotFound):
        await supersede(stranger, page, "nightly", "hourly")
    with pytest.raises(NotFound):
        await withdraw_claim(stranger.database, stranger.scope, done.claim_id)
