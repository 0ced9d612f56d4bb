"""Decisions: asked for, and recorded."""

from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput
from resolvers.pages import decision_records
from resolvers.pages.decision_records import DecisionDraft, QuestionDraft

from ..enums import WikiSignificance
from ..fields import source
from ..pages.decisions import WikiDecisionQuestion
from ..pages.pages import WikiPage
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, id_of, optional_id, scope_in


@strawberry.input(description="A question that waits for a decision.")
class AskWikiDecisionInput(InWiki):
    question: str = strawberry.field(description="The question, on one line.")
    why: str = strawberry.field(description="Why it matters.")
    options: list[str] = strawberry.field(default_factory=list, description="The options, twenty at most.")
    significance: WikiSignificance = strawberry.field(
        default=WikiSignificance.MEDIUM, description="How much depends on it."
    )

    def to_draft(self) -> QuestionDraft:
        significance = WikiSignificance(self.significance).value
        return QuestionDraft(self.question, self.why, tuple(self.options), significance)


@strawberry.input(description="A decision: of a question that is given, or of one that was asked before.")
class RecordWikiDecisionInput(InWiki):
    decision: str = strawberry.field(description="What was decided, as markdown.")
    question: str | None = strawberry.field(default=None, description="The question, on one line.")
    question_id: strawberry.ID | None = strawberry.field(default=None, description="Or a question that was asked.")
    why: str | None = strawberry.field(default=None, description="Why it matters; needed with question.")
    options: list[str] = strawberry.field(
        default_factory=list, description="The options that were considered, twenty at most; with question."
    )
    consequences: str | None = strawberry.field(default=None, description="What follows, as markdown.")
    significance: WikiSignificance = strawberry.field(
        default=WikiSignificance.MEDIUM, description="How much depends on it; with question."
    )
    supersedes_id: strawberry.ID | None = strawberry.field(
        default=None, description="The page of the decision that this one replaces. Such a one always gets a page."
    )

    def draft(self) -> DecisionDraft:
        significance = WikiSignificance(self.significance).value
        asked = None
        if self.question is not None:
            asked = QuestionDraft(self.question, self.why or "", tuple(self.options), significance)
        return DecisionDraft(
            self.decision,
            self.consequences or "",
            asked,
            optional_id(self.question_id),
            optional_id(self.supersedes_id),
        )


@strawberry.input(description="A question that is not to be decided any more.")
class WithdrawWikiDecisionQuestionInput:
    question_id: strawberry.ID = strawberry.field(description="The question.")
    reason: str | None = strawberry.field(default=None, description="Why, for those who wonder later.")


@strawberry.type(description="A question after it was asked, or withdrawn.")
class WikiDecisionQuestionPayload:
    question_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    question: WikiDecisionQuestion | None = source(
        relations.decisions.by_ids, "The question.", access=BY_ID, step=private_id("question_id")
    )


@strawberry.type(description="A decision after it was recorded.")
class WikiDecisionPayload:
    page_id: strawberry.Private[UUID | None] = None
    question_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Empty when it was done.")
    page: WikiPage | None = source(
        relations.pages.by_ids,
        "Its page; null where it went into the log alone.",
        access=BY_ID,
        step=private_id("page_id"),
    )
    question: WikiDecisionQuestion | None = source(
        relations.decisions.by_ids, "The question that was asked before.", access=BY_ID, step=private_id("question_id")
    )


@strawberry.type
class DecisionMutations:
    @strawberry.mutation(description="Ask a question, which is listed until it is decided or withdrawn.")
    async def ask_wiki_decision(self, info: Request, input: AskWikiDecisionInput) -> WikiDecisionQuestionPayload:
        scope = await scope_in(info, input)
        try:
            question_id = await decision_records.ask_decision(info.context.database, scope, input.to_draft())
        except BadInput as error:
            return WikiDecisionQuestionPayload(user_errors=[user_error(error)])
        return WikiDecisionQuestionPayload(question_id=question_id)

    @strawberry.mutation(description="Let a question end without a decision, for those who may write in its wiki.")
    async def withdraw_wiki_decision_question(
        self, info: Request, input: WithdrawWikiDecisionQuestionInput
    ) -> WikiDecisionQuestionPayload:
        question_id, context = id_of(input.question_id), info.context
        try:
            await decision_records.withdraw_question(context.database, context.scope, question_id, input.reason)
        except BadInput as error:
            return WikiDecisionQuestionPayload(user_errors=[user_error(error)])
        return WikiDecisionQuestionPayload(question_id=question_id)

    @strawberry.mutation(
        description="Record a decision as a page that is never edited, or in the log alone where it is less "
        "significant than the wiki's decisionThreshold."
    )
    async def record_wiki_decision(self, info: Request, input: RecordWikiDecisionInput) -> WikiDecisionPayload:
        scope = await scope_in(info, input)
        try:
            done = await decision_records.record_decision(info.context.database, scope, input.draft())
        except BadInput as error:
            return WikiDecisionPayload(user_errors=[user_error(error)])
        return WikiDecisionPayload(page_id=done.page_id, question_id=done.question_id)
