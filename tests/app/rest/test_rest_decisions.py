"""REST and agents: questions are asked, listed and decided; what was decided is never edited."""

from tests.app.agents import Agent
from tests.app.rest_client import Rest
from tests.app.service import Service
from tests.wiki import Wiki

ASKED = {"question": "Which database?", "why": "Writes are slow.", "options": ["Postgres", "MySQL"]}


async def test_a_question_waits_and_is_decided(service: Service, token: str, wiki: Wiki) -> None:
    rest = Rest(service.http, token)
    asked = await rest.post("/decisions/questions", ASKED)
    assert asked.status_code == 201
    (waiting,) = (await rest.get("/decisions/questions?status=open")).json()["items"]
    assert (waiting["id"], waiting["options"], waiting["page"]) == (asked.json()["id"], ["Postgres", "MySQL"], None)
    done = await rest.post("/decisions", {"question_id": waiting["id"], "decision": "MySQL.", "consequences": "Move."})
    assert (done.status_code, done.json()["version"]) == (201, 1)
    (decided,) = (await rest.get("/decisions/questions?status=decided")).json()["items"]
    assert (decided["decision"], decided["page"]["slug"]) == ("MySQL.", "which-database")
    edited = await rest.post("/pages/which-database/edit", {"old_text": "MySQL.", "new_text": "x"})
    assert (edited.status_code, "is not edited" in edited.text) == (422, True)
    small = await rest.post("/decisions", ASKED | {"decision": "MySQL.", "significance": "low"})
    assert (small.status_code, small.json()["page_id"]) == (201, None)
    later = await rest.post("/decisions", ASKED | {"decision": "Postgres.", "supersedes": "which-database"})
    assert later.json()["page_id"] is not None
    assert (await rest.post("/decisions", {"decision": "x"})).json()["field"] == "question"


async def test_an_agent_asks_and_records(mara: Agent, wiki: Wiki) -> None:
    asked = await mara.call("wiki_decide", **ASKED)
    assert asked["open"] == [{"id": asked["question_id"], "question": "Which database?", "options": ASKED["options"]}]
    done = await mara.call("wiki_decide", question_id=asked["question_id"], decision="MySQL.")
    assert (done["open"], done["page_id"]) == ([], str((await wiki.row("pages"))["id"]))
    assert (await mara.call("wiki_decide"))["open"] == []
