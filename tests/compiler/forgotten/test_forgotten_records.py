"""Forgetting reaches records besides pages: decisions and the activity log."""

from resolvers.knowledge.lint_reports import mute_finding, unmute_finding
from resolvers.model.drafts import PageDraft, SectionDraft
from resolvers.model.lookup import PageAddress
from resolvers.pages.aliases import add_alias
from resolvers.pages.claims.claims import Mode, supersede_claim
from resolvers.pages.claims.decisions import (
    DecisionDraft,
    QuestionDraft,
    ask_decision,
    record_decision,
    withdraw_question,
)
from resolvers.pages.lifecycle import create_page, update_page
from resolvers.sources.sources import forget_source
from tests.compiler.forgotten.forgetting import found_in
from tests.compiler.scripted_compiler import compile_all, retain_texts
from tests.wiki import Wiki

WORD = "Zyxglorb"
SAID = f"The {WORD} opens at nine on Sundays."
QUOTING = QuestionDraft("When do we meet?", f"It says: {SAID}", (SAID, "At ten"), "low")


async def test_decisions_that_quote_a_forgotten_source_are_erased(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, SAID)
    here = wiki.database, wiki.scope
    await create_page(*here, PageDraft("entity", f"{WORD} House", body="Opens at nine, on Sundays."))
    await ask_decision(*here, QUOTING)
    await record_decision(*here, DecisionDraft(SAID, question_id=await ask_decision(*here, QUOTING)))
    await withdraw_question(*here, await ask_decision(*here, QUOTING), SAID)
    await record_decision(*here, DecisionDraft(SAID, question=QUOTING))
    other_id = await ask_decision(*here, QuestionDraft("Where do we meet?", "We know it not.", (), "low"))
    assert {"decision_questions.why", "activity.detail"} <= await found_in(wiki, WORD)
    await forget_source(*here, source_id)
    await compile_all(wiki)
    assert {"decision_questions.why", "activity.detail"}.isdisjoint(await found_in(wiki, WORD))
    assert [row["id"] for row in await wiki.rows("decision_questions")] == [other_id]


async def test_log_entries_of_mutes_that_name_a_forgotten_word_are_cleared(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, SAID)
    here = wiki.database, wiki.scope
    await mute_finding(*here, "broken_links", reason="Nobody knows.", name=WORD)
    await unmute_finding(*here, "broken_links", name=WORD)
    assert "activity.detail" in await found_in(wiki, WORD)
    await forget_source(*here, source_id)
    await compile_all(wiki)
    assert not await found_in(wiki, WORD)


async def test_records_that_share_only_common_words_with_a_forgotten_source_stay(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, f"The {WORD} opens with nine of these from Sunday on.")
    here = wiki.database, wiki.scope
    page = await create_page(*here, PageDraft("entity", "Annex", body="One of these, with the garden from above."))
    await add_alias(*here, page.page_id, name="The House with the Garden")
    await mute_finding(*here, "orphans", reason="One of these from the old wiki.", page_id=page.page_id)
    answers = [b'{"title": "The House with the Garden"}', f'{{"title": "{WORD}"}}'.encode()]
    for answer in answers:
        await wiki.connection.execute(
            "INSERT INTO idempotency_keys VALUES ($1, $2, $2, $2, now())", wiki.scope.tenant_id, answer
        )
    await forget_source(*here, source_id)
    await compile_all(wiki)
    (logged,) = await wiki.rows("activity", action="alias.added")
    assert logged["detail"] == {"name": "The House with the Garden"}
    assert len(await wiki.rows("lint_mutes", "subject")) == 1
    assert await wiki.connection.fetch("SELECT answer FROM idempotency_keys") == [(answers[0],)]


async def test_texts_of_people_that_share_only_common_words_with_a_forgotten_source_stay(wiki: Wiki) -> None:
    here = wiki.database, wiki.scope
    given = {"summary": "A place with the best view.", "sections": [SectionDraft("Mine.", "notes")]}
    page = await create_page(*here, PageDraft("entity", "Momofuku", metadata={"seen": "with the others"}, **given))
    source_id, _ = await retain_texts(
        wiki, f"to entity Momofuku\nThe {WORD} is there with us.", "to entity Momofuku\nWent twice."
    )
    await compile_all(wiki)
    fact, replacement = "It has the red door.", "It has the blue door."
    await supersede_claim(*here, PageAddress(page.page_id), fact=fact, replacement=replacement, mode=Mode.NONE)
    await forget_source(*here, source_id)
    job = (await compile_all(wiki))[-1]
    assert not await found_in(wiki, WORD)
    assert (await wiki.page(page.page_id))["summary"] == given["summary"]
    assert [row["fact"] for row in await wiki.rows("superseded_claims")] == [fact]
    assert "repeating_page_ids" not in job["metrics"]


async def test_revisions_that_share_only_a_run_of_stop_words_with_a_forgotten_source_stay(wiki: Wiki) -> None:
    (source_id,) = await retain_texts(wiki, f"The {WORD} has those that we were with.")
    here = wiki.database, wiki.scope
    page = await create_page(*here, PageDraft("topic", "Friends", body="I like those that we were with."))
    await update_page(*here, page.page_id, body="Other friends.")
    await forget_source(*here, source_id)
    await compile_all(wiki)
    revisions = await wiki.rows("revisions", "version", page_id=page.page_id)
    assert [row["erased_at"] for row in revisions] == [None, None]
