"""Mutations that ask questions, withdraw them, and record decisions."""

from uuid import UUID

import strawberry

from db import relations
from db.access import BY_ID
from resolvers.errors import BadInput
from resolvers.pages.claims import decisions
from resolvers.pages.claims.decisions import DecisionDraft, QuestionDraft

from ..enums import WikiSignificance
from ..fields import source
from ..pages.decisions import WikiDecisionQuestion
from ..pages.pages import WikiPage
from .payloads import UserError, private_id, user_error
from .scoping import InWiki, Request, id_of, optional_id, scope_in


@strawberry.input(description="Question to ask.")
class AskWikiDecisionInput(InWiki):
    question: str = strawberry.field(description="The question, on one line.")
    why: str = strawberry.field(description="Reason why the question matters.")
    options: list[str] = strawberry.field(default_factory=list, description="Options to choose from, 20 at most.")
    significance: WikiSignificance = strawberry.field(
        default=WikiSignificance.MEDIUM, description="Significance of the decision."
    )

    def to_draft(self) -> QuestionDraft:
        significance = WikiSignificance(self.significance).value
        return QuestionDraft(self.question, self.why, tuple(self.options), significance)


@strawberry.input(description="Decision to record, with a new question or for an open one.")
class RecordWikiDecisionInput(InWiki):
    decision: str = strawberry.field(description="Decision, in Markdown.")
    question: str | None = strawberry.field(default=None, description="The question, on one line.")
    question_id: strawberry.ID | None = strawberry.field(
        default=None, description="Id of an open question, instead of question."
    )
    why: str | None = strawberry.field(
        default=None, description="Reason why the question matters. Required with question."
    )
    options: list[str] = strawberry.field(
        default_factory=list, description="Options that were considered, 20 at most. Only with question."
    )
    consequences: str | None = strawberry.field(default=None, description="Consequences, in Markdown.")
    significance: WikiSignificance = strawberry.field(
        default=WikiSignificance.MEDIUM, description="Significance of the decision. Only with question."
    )
    supersedes_id: strawberry.ID | None = strawberry.field(
        default=None,
        description="Id of the page of the decision that this one replaces. Such a decision always gets a page.",
    )

    def draft(self) -> DecisionDraft:
        significance = WikiSignificance(self.significance).value
        question = None
        if self.question is not None:
            question = QuestionDraft(self.question, self.why or "", tuple(self.options), significance)
        return DecisionDraft(
            self.decision,
            self.consequences or "",
            question,
            optional_id(self.question_id),
            optional_id(self.supersedes_id),
        )


@strawberry.input(description="Question to withdraw.")
class WithdrawWikiDecisionQuestionInput:
    question_id: strawberry.ID = strawberry.field(description="The question.")
    reason: str | None = strawberry.field(default=None, description="Reason for the withdrawal.")


@strawberry.type(description="Payload with the question.")
class WikiDecisionQuestionPayload:
    question_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    question: WikiDecisionQuestion | None = source(
        relations.decisions.by_ids, "The question.", access=BY_ID, step=private_id("question_id")
    )


@strawberry.type(description="Payload with the decision.")
class WikiDecisionPayload:
    page_id: strawberry.Private[UUID | None] = None
    question_id: strawberry.Private[UUID | None] = None
    user_errors: list[UserError] = strawberry.field(default_factory=list, description="Errors. Empty on success.")
    page: WikiPage | None = source(
        relations.pages.by_ids,
        "Page of the decision. Null if it was only logged.",
        access=BY_ID,
        step=private_id("page_id"),
    )
    question: WikiDecisionQuestion | None = source(
        relations.decisions.by_ids, "Question that the decision answers.", access=BY_ID, step=private_id("question_id")
    )


@strawberry.type
class DecisionMutations:
    @strawberry.mutation(
        description="Ask a question that waits for a decision. It stays open until it is decided or withdrawn."
    )
    async def ask_wiki_decision(self, info: Request, input: AskWikiDecisionInput) -> WikiDecisionQuestionPayload:
        scope = await scope_in(info, input)
        try:
            question_id = await decisions.ask_decision(info.context.database, scope, input.to_draft())
        except BadInput as error:
            return WikiDecisionQuestionPayload(user_errors=[user_error(error)])
        return WikiDecisionQuestionPayload(question_id=question_id)

    @strawberry.mutation(description="Withdraw an open question. Requires write access to the wiki.")
    async def withdraw_wiki_decision_question(
        self, info: Request, input: WithdrawWikiDecisionQuestionInput
    ) -> WikiDecisionQuestionPayload:
        question_id, context = id_of(input.question_id), info.context
        try:
            await decisions.withdraw_question(context.database, context.scope, question_id, input.reason)
        except BadInput as error:
            return WikiDecisionQuestionPayload(user_errors=[user_error(error)])
        return WikiDecisionQuestionPayload(question_id=question_id)

    @strawberry.mutation(
        description=(
            "Record a decision as an immutable page. Decisions below the decisionThreshold of the wiki are only logged."
        )
    )
    async def record_wiki_decision(self, info: Request, input: RecordWikiDecisionInput) -> WikiDecisionPayload:
        scope = await scope_in(info, input)
        try:
            done = await decisions.record_decision(info.context.database, scope, input.draft())
        except BadInput as error:
            return WikiDecisionPayload(user_errors=[user_error(error)])
        return WikiDecisionPayload(page_id=done.page_id, question_id=done.question_id)
