"""Questions that wait for a decision, and the decisions."""

from datetime import datetime

import strawberry

from db import relations

from ..enums import WikiAuthorKind, WikiDecisionStatus, WikiSignificance
from ..fields import Connection, OlderOwner, OwnerName, column, expression, relation, source
from .pages import WikiPage

decisions = relations.decisions


@strawberry.type(description="A question: open, decided or withdrawn.")
class WikiDecisionQuestion:
    id: strawberry.ID = column("Id of the question.")
    question: str = column("The question.")
    why: str = column("Reason why the question matters.")
    options: list[str] = column("Options to choose from.")
    significance: WikiSignificance = column("Significance of the decision.")
    status: WikiDecisionStatus = column("Current status.")
    decision: str | None = column("Decision. Null if there is none.")
    reason: str | None = column("Reason for the withdrawal, if given.")
    page: WikiPage | None = relation(decisions.page, "Page of the decision. Null if it was only logged.")
    author_kind: WikiAuthorKind = column("Kind of author who asked.")
    author_id: str = column("Id of the author, as the credential names it.")
    author_name: str = expression(decisions.author_name, "Display name of the author.")
    created_at: datetime = column("Time of the question.")
    decided_at: datetime | None = column("Time at which it was decided or withdrawn.")


@strawberry.type
class DecisionQueries:
    @source(decisions.listed, "The questions of a wiki with their decisions, newest first.")
    def wiki_decision_questions(
        status: WikiDecisionStatus | None = None,
        tenant_id: strawberry.ID | None = None,
        owner: OwnerName = None,
        owner_id: OlderOwner = None,
        user_id: OlderOwner = None,
        agent_id: OlderOwner = None,
    ) -> Connection[WikiDecisionQuestion]: ...
