"""wiki_decide asks for a decision, or records a decision as an immutable page."""

from uuid import UUID

from pydantic import BaseModel, Field

from content.limits import TITLE
from db.database import Database
from db.scope import Scope
from resolvers.errors import BadInput
from resolvers.pages.claims.decisions import (
    OPTIONS_MAX,
    PART_MAX,
    DecisionDraft,
    QuestionDraft,
    RecordedDecision,
    ask_decision,
    record_decision,
    withdraw_question,
)
from resolvers.proposals.gate import Significance

from .caller import Caller
from .output_limit import paragraphs
from .pages import PageName, find_page
from .tool import Tool, ToolInput, ToolOutput


class DecideInput(ToolInput):
    question: str | None = Field(None, max_length=TITLE.maximum, description="Question, on one line.")
    question_id: str | None = Field(None, description="Open question, instead of question.")
    why: str | None = Field(None, max_length=PART_MAX, description="Reason why the question matters.")
    options: list[str] = Field([], max_length=OPTIONS_MAX, description="Options that were considered.")
    decision: str | None = Field(
        None, max_length=PART_MAX, description="Decision. Without it, the question stays open."
    )
    withdraw: bool = Field(False, description="Withdraw question_id; why can give the reason.")
    consequences: str = Field("", max_length=PART_MAX, description="Consequences of the decision.")
    significance: str = Field(
        "medium", description=f"One of {', '.join(Significance)}. Below the wiki's threshold: only logged."
    )
    supersedes: PageName | None = Field(None, description="Decision that this one replaces.")


class OpenQuestion(BaseModel):
    id: str
    question: str
    options: list[str]


class Decided(BaseModel):
    page_id: str | None = Field(description="Null if only logged, or open.")
    question_id: str | None
    open: list[OpenQuestion] = Field(description="Open questions.")


async def decide(caller: Caller, arguments: DecideInput) -> ToolOutput:
    question = None
    if arguments.question is not None:
        question = QuestionDraft(
            arguments.question, arguments.why or "", tuple(arguments.options), arguments.significance
        )
    page_id, question_id = None, arguments.question_id and as_id(arguments.question_id)
    if arguments.withdraw:
        withdrawn = question_id = withdrawn_id(arguments)
        await caller.write(lambda database, scope: withdraw_question(database, scope, withdrawn, arguments.why))
        message = f"The question {withdrawn} was withdrawn."
    elif arguments.decision is None:
        if question is None and arguments.question_id is not None:
            raise BadInput("Say what was decided.", "decision")
        if question is not None:
            question_id = await caller.write(lambda database, scope: ask_decision(database, scope, question))
        message = f"The question {question_id} waits for a decision." if question else ""
    else:
        superseded = UUID((await find_page(caller, arguments.supersedes)).id) if arguments.supersedes else None
        draft = DecisionDraft(arguments.decision, arguments.consequences, question, question_id or None, superseded)

        async def work(database: Database, scope: Scope) -> RecordedDecision:
            return await record_decision(database, scope, draft)

        page_id = (await caller.write(work)).page_id
        message = f"Recorded as the page {page_id}." if page_id else "Logged; it is not significant enough for a page."
    open_questions = (await caller.read("questions"))["wikiDecisionQuestions"]["nodes"]
    data = Decided(
        page_id=page_id and str(page_id),
        question_id=str(question_id) if question_id else None,
        open=[OpenQuestion(**node) for node in open_questions],
    )
    waiting = "\n".join(f"- {item.id}: {item.question}" for item in data.open)
    return ToolOutput(data, paragraphs(message, waiting and f"Questions that wait:\n{waiting}") or "No question waits.")


def withdrawn_id(arguments: DecideInput) -> UUID:
    if arguments.question_id is None or arguments.decision is not None:
        raise BadInput("Give the question_id of what is withdrawn, and no decision.", "question_id")
    return as_id(arguments.question_id)


def as_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise BadInput("This is no id of a question.", "question_id") from None


WIKI_DECIDE = Tool(
    "wiki_decide",
    "Ask for or record a decision",
    (
        "Record a decision with its options as an immutable page. Without `decision`, ask the "
        "question. Without a question, list open ones."
    ),
    DecideInput,
    Decided,
    decide,
    writes=True,
)
