"""Forgetting reaches records besides pages: decisions and the activity log."""

from resolvers.knowledge.lint_reports import mute_finding, unmute_finding
from resolvers.model.drafts import PageDraft
from resolvers.pages.claims.decision_records import (
    DecisionDraft,
    QuestionDraft,
    ask_decision,
    record_decision,
    withdraw_question,
)
from resolvers.pages.lifecycle import create_page
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
