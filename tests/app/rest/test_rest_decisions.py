"""Tests that questions are asked, listed, decided and withdrawn over REST and by agents."""

from uuid import UUID

from tests.app.clients.agents import Agent
from tests.app.clients.rest_client import RestClient
from tests.app.service import Service
from tests.wiki import Wiki

QUESTION = {"question": "Which database?", "why": "Writes are slow.", "options": ["Postgres", "MySQL"]}


async def test_an_open_question_is_listed_and_decided(service: Service, token: str, wiki: Wiki) -> None:
    rest = RestClient(service.http, token)
    created = await rest.post("/decisions/questions", QUESTION)
    assert created.status_code == 201
    (open_question,) = (await rest.get("/decisions/questions?status=open")).json()["items"]
    assert (open_question["id"], open_question["options"], open_question["page"]) == (
        created.json()["id"],
        ["Postgres", "MySQL"],
        None,
    )
    recorded = await rest.post(
        "/decisions", {"question_id": open_question["id"], "decision": "MySQL.", "consequences": "Move."}
    )
    assert (recorded.status_code, recorded.json()["version"]) == (201, 1)
    (decided,) = (await rest.get("/decisions/questions?status=decided")).json()["items"]
    assert (decided["decision"], decided["page"]["slug"]) == ("MySQL.", "which-database")
    edited = await rest.post("/pages/which-database/edit", {"old_text": "MySQL.", "new_text": "x"})
    assert (edited.status_code, "is not edited" in edited.text) == (422, True)
    small = await rest.post("/decisions", QUESTION | {"decision": "MySQL.", "significance": "low"})
    assert (small.status_code, small.json()["page_id"]) == (201, None)
    later = await rest.post("/decisions", QUESTION | {"decision": "Postgres.", "supersedes": "which-database"})
    assert later.json()["page_id"] is not None
    assert (await rest.post("/decisions", {"decision": "x"})).json()["field"] == "question"


async def test_an_agent_asks_a_question_and_records_its_decision(mcp_agent: Agent, wiki: Wiki) -> None:
    question = await mcp_agent.call("wiki_decide", **QUESTION)
    assert question["open"] == [
        {"id": question["question_id"], "question": "Which database?", "options": QUESTION["options"]}
    ]
    recorded = await mcp_agent.call("wiki_decide", question_id=question["question_id"], decision="MySQL.")
    assert (recorded["open"], recorded["page_id"]) == ([], str((await wiki.row("pages"))["id"]))
    assert (await mcp_agent.call("wiki_decide"))["open"] == []


async def test_a_question_is_withdrawn_over_rest(service: Service, token: str) -> None:
    rest = RestClient(service.http, token)
    question_id = (await rest.post("/decisions/questions", QUESTION)).json()["id"]
    withdrawal = await rest.post(f"/decisions/questions/{question_id}/withdraw", {"reason": "Nobody writes."})
    assert (withdrawal.status_code, withdrawal.json()) == (200, {"id": question_id})
    (listed,) = (await rest.get("/decisions/questions?status=withdrawn")).json()["items"]
    assert (listed["status"], listed["reason"], listed["decision"]) == ("withdrawn", "Nobody writes.", None)
    again = await rest.post(f"/decisions/questions/{question_id}/withdraw", {})
    assert (again.status_code, again.json()["field"]) == (422, "question_id")
    assert (await rest.post(f"/decisions/questions/{UUID(int=1)}/withdraw", {})).status_code == 404
    decided = await rest.post("/decisions", {"question_id": question_id, "decision": "MySQL."})
    assert (decided.status_code, "withdrawn" in decided.text) == (422, True)


async def test_an_agent_withdraws_a_question(mcp_agent: Agent, wiki: Wiki) -> None:
    question_id = (await mcp_agent.call("wiki_decide", **QUESTION))["question_id"]
    await mcp_agent.expect_error("wiki_decide", withdraw=True)
    await mcp_agent.expect_error("wiki_decide", withdraw=True, question_id=question_id, decision="MySQL.")
    result = await mcp_agent.call("wiki_decide", withdraw=True, question_id=question_id, why="Nobody writes.")
    assert (result["open"], result["page_id"]) == ([], None)
    row = await wiki.row("decision_questions")
    assert (row["status"], row["reason"]) == ("withdrawn", "Nobody writes.")
