"""Questions that wait for a decision, and what was decided."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind, WikiDecisionStatus, WikiSignificance
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

decisions = relations.decisions


@strawberry.type(description="A question that waits for a decision, that has one, or that was withdrawn.")
class WikiDecisionQuestion:
    id: strawberry.ID = column("Of the question.")
    question: str = column("The question.")
    why: str = column("Why it matters.")
    options: list[str] = column("The options that there are.")
    significance: WikiSignificance = column("How much depends on it.")
    status: WikiDecisionStatus = column("Where it stands.")
    decision: str | None = column("What was decided; null where nothing was.")
    reason: str | None = column("Why it was withdrawn, where somebody said so.")
    page: WikiPage | None = relation(decisions.page, "The page of the decision; null where it was logged alone.")
    author_kind: WikiAuthorKind = column("Who asked.")
    author_id: str = column("Who asked, as the credential named them.")
    author_name: str = expression(decisions.author_name, "The display name of who asked.")
    created_at: datetime = column("When it was asked.")
    decided_at: datetime | None = column("When it was decided, or withdrawn.")


@strawberry.type
class DecisionQueries:
    @source(decisions.listed, "The questions of a wiki that wait, were decided or withdrawn; the newest first.")
    def wiki_decision_questions(
        status: WikiDecisionStatus | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiDecisionQuestion]: ...
