"""Decisions: open questions, and pages that record decisions, which are never edited.

A decision below the significance threshold of the wiki gets no page, only a line in the activity log.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from content.limits import REASON, SUMMARY, TITLE
from content.templates import TEMPLATES
from db.database import Database
from db.ids import new_id
from db.one_transaction import OneTransaction
from db.scope import Scope
from db.sql import statements

from ... import validation
from ...errors import BadInput, LimitExceeded, NotFound
from ...links.links import link_pages
from ...model.drafts import PageDraft, SectionDraft
from ...model.pages import RECORDED, Page, find_page
from ...permissions import Action
from ...proposals.gate import Significance
from ...proposals.operations import proposable
from ...transactions.transaction import NO_PAGE, check_may_write, read_connection, writing, writing_row
from ...transactions.writer import Writer, record
from ..lifecycle import create_page

DECISIONS = statements("review/decisions")
SUPERSEDES = "supersedes"  # the reason of the link from a decision to the decision that it replaces
NO_QUESTION = "There is no such question, or none that you may see."
OPTIONS_MAX = 20
PART_MAX = 20_000  # characters
OPEN_MAX = 1_000  # questions of one wiki
LEVELS = tuple(level.value for level in Significance)


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """A question to decide: the question, why it matters, the options and its significance."""

    question: str
    why: str
    options: Sequence[str] = ()
    significance: str = "medium"


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A decision and its consequences. Its question is given with it, or by the id of an open question."""

    decision: str
    consequences: str = ""
    question: QuestionDraft | None = None
    question_id: UUID | None = None
    supersedes_id: UUID | None = None
    """The page of the decision that this one replaces."""


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """The result of recording a decision. `page_id` is None if the decision was only logged."""

    page_id: UUID | None
    version: int | None = None
    question_id: UUID | None = None


async def ask_decision(database: Database, scope: Scope, draft: QuestionDraft) -> UUID:
    """Store an open question, which is listed until it is decided or withdrawn. Raises BadInput, LimitExceeded."""
    question = clean_question(draft)
    async with writing(database, scope) as writer:
        if await writer.value(DECISIONS["count_open"]) >= OPEN_MAX:
            raise LimitExceeded(f"{OPEN_MAX:,} questions wait in this wiki. Decide some first.")
        question_id = new_id()
        author = {"author_kind": scope.actor.kind.value, "author_id": scope.actor.id}
        await writer.run(
            DECISIONS["ask"],
            id=question_id,
            question=question.question,
            why=question.why,
            options=list(question.options),
            significance=question.significance,
            **author,
        )
        await record(writer, "decision.asked", questionId=str(question_id))
    return question_id


@proposable
async def record_decision(database: Database, scope: Scope, draft: DecisionDraft) -> RecordedDecision:
    """Create the page of a decision, or only log it if it is below the significance threshold of the wiki.

    A decision that replaces an earlier one links to it with the reason `supersedes`, and always gets a page. Everything
    is one transaction.
    """
    await check_may_write(database, scope)
    if draft.supersedes_id is not None:
        await check_decision(database, scope, draft.supersedes_id)
    if (draft.question is None) == (draft.question_id is None):
        raise BadInput("Give the question, or the id of one that was asked.", "question")
    decision = required_text(draft.decision, "decision")
    consequences = required_text(draft.consequences, "consequences") if draft.consequences.strip() else ""
    question = await question_of(database, scope, draft)
    async with read_connection(database) as connection:
        threshold = await connection.value(
            DECISIONS["find_threshold"], tenant_id=scope.tenant_id, owner_id=scope.owner_id
        )
    if threshold is None:
        raise NotFound("There is no such wiki, or none that you may see.")
    if draft.supersedes_id is None and LEVELS.index(question.significance) < LEVELS.index(threshold):
        return await log_decision(database, scope, draft, question, decision)
    async with OneTransaction(database) as whole:
        saved = await create_page(whole, scope, page_of(question, decision, consequences))
        if draft.supersedes_id is not None:
            await link_pages(whole, scope, saved.page_id, draft.supersedes_id, reason=SUPERSEDES)
        if draft.question_id is not None:
            await close_question(whole, scope, draft.question_id, decision, saved.page_id)
        await whole.commit()
    return RecordedDecision(saved.page_id, saved.version, draft.question_id)


async def log_decision(
    database: Database, scope: Scope, draft: DecisionDraft, question: QuestionDraft, decision: str
) -> RecordedDecision:
    if draft.question_id is not None:
        await close_question(database, scope, draft.question_id, decision, None)
    else:
        async with writing(database, scope) as writer:
            await record(
                writer,
                "decision.logged",
                question=question.question[: TITLE.maximum],
                decision=decision[: SUMMARY.maximum],
                significance=question.significance,
            )
    return RecordedDecision(None, None, draft.question_id)


async def close_question(
    database: Database, scope: Scope, question_id: UUID, decision: str, page_id: UUID | None
) -> None:
    """Close an open question with its decision. Raises BadInput if it was decided or withdrawn before."""
    async with writing_row(database, scope, DECISIONS["find_owner"], question_id, NO_QUESTION) as writer:
        if not await writer.value(DECISIONS["decide"], id=question_id, decision=decision, page_id=page_id):
            raise BadInput(
                "This was decided already, or withdrawn. Record a decision that supersedes the first, or ask again.",
                "questionId",
            )
        detail = {} if page_id else {"decision": decision[: SUMMARY.maximum]}
        action = "decision.recorded" if page_id else "decision.logged"
        await record(writer, action, page_id, questionId=str(question_id), **detail)


async def withdraw_question(database: Database, scope: Scope, question_id: UUID, reason: str | None = None) -> None:
    """Close an open question without a decision. Raises BadInput if it was decided or withdrawn before."""
    reason = validation.optional(reason, "reason", REASON.maximum)
    async with writing_row(database, scope, DECISIONS["find_owner"], question_id, NO_QUESTION) as writer:
        if not await writer.value(DECISIONS["withdraw"], id=question_id, reason=reason):
            raise BadInput("This question does not wait any more: it was decided or withdrawn.", "questionId")
        await record(writer, "decision.withdrawn", questionId=str(question_id), reason=reason)


async def question_of(database: Database, scope: Scope, draft: DecisionDraft) -> QuestionDraft:
    """Return the question of a decision: the validated one in the draft, or the stored one. Raises NotFound."""
    if draft.question is not None:
        return clean_question(draft.question)
    async with read_connection(database) as connection:
        own = scope.wiki_values
        row = await connection.one(DECISIONS["find_question"], **own, id=draft.question_id)
    if row is None:
        raise NotFound(NO_QUESTION)
    return QuestionDraft(row["question"], row["why"], tuple(row["options"]), row["significance"])


async def check_decision(database: Database, scope: Scope, page_id: UUID) -> None:
    """Raise NotFound or BadInput unless the page is a decision of the wiki."""
    async with writing(database, scope, Action.WRITE) as writer:
        page = await require_page(writer, page_id)
    if page.type != "decision":
        raise BadInput("This page is not a decision. A decision can only supersede another decision.", "supersedesId")


async def require_page(writer: Writer, page_id: UUID) -> Page:
    page = await find_page(writer, page_id)
    if page is None:
        raise NotFound(NO_PAGE)
    return page


def page_of(question: QuestionDraft, decision: str, consequences: str) -> PageDraft:
    """Return the draft of a decision's page, with the sections of the template for decisions."""
    texts = {
        "context": question.question,
        "decision": decision,
        "rationale": question.why,
        "consequences": consequences,
        "options_considered": "\n".join(f"- {' '.join(option.split())}" for option in question.options),
    }
    return PageDraft(
        "decision",
        question.question[: TITLE.maximum],
        summary=" ".join(decision.split())[: SUMMARY.maximum],
        sections=[SectionDraft(texts[slug], slug, heading) for slug, heading in TEMPLATES["decision"]],
        metadata={RECORDED: True, "significance": question.significance},
        edit_summary=f"Decided: {' '.join(question.question.split())[:200]}",
    )


def clean_question(draft: QuestionDraft) -> QuestionDraft:
    """Return the cleaned question. Raises BadInput."""
    options = validation.check_count(draft.options, OPTIONS_MAX, "options")
    return QuestionDraft(
        validation.line(" ".join(draft.question.split()), "question", TITLE.maximum),
        required_text(draft.why, "why"),
        tuple(validation.line(" ".join(option.split()), f"options.{n}", 2_000) for n, option in enumerate(options)),
        validation.one_of(draft.significance, LEVELS, "significance"),
    )


def required_text(text: str, field: str) -> str:
    text = validation.text(text, field, PART_MAX).strip()
    if not text:
        raise BadInput("This is required to record a decision.", field)
    return text
