"""The diary of a wiki describes its activity in words, by day."""

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.ids import new_id
from db.scope import Role
from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.knowledge import diary
from resolvers.pages.lifecycle import archive_page, delete_page
from resolvers.pages.merging import merge_pages
from schema.root import make_engine
from tests.schema.executing import error_code, execute_document
from tests.schema.reads.test_overview import page
from tests.wiki import Wiki

ENGINE = make_engine()
ROOT = Path(diary.__file__).parents[2]
DIARY = """query ($since: String, $until: String, $zone: String, $lines: Int, $owner: String) {
    found: wikiDiary(since: $since, until: $until, timeZone: $zone, lines: $lines, owner: $owner) {
        since until bodyMd days {
            date moreTotal isWhole counts { topic total } entries { topic action text times at page { id title } }
        } } }"""


async def read_diary(wiki: Wiki, **variables: Any) -> Any:
    answer = await execute_document(ENGINE, Context(wiki.database, wiki.scope), DIARY, **variables)
    assert "errors" not in answer, answer
    return answer["data"]["found"]


async def log(wiki: Wiki, action: str, at: str, page_id: UUID | None = None, actor: str = "marco") -> None:
    """Add an entry to the activity log at that time."""
    await wiki.connection.execute(
        """INSERT INTO activity (tenant_id, owner_id, id, at, actor_kind, actor_id, action, page_id, detail)
        VALUES ($1, $2, $3, $4, 'agent', $5, $6, $7, '{}')""",
        wiki.scope.tenant_id, wiki.scope.owner_id, new_id(), datetime.fromisoformat(at), actor, action, page_id,
    )  # fmt: skip


def test_every_logged_action_has_a_description() -> None:
    """The actions are found as literals in the Python and SQL code."""
    texts = [path.read_text() for folder in ("resolvers", "compiler") for path in (ROOT / folder).rglob("*.py")]
    for other in ("audit", "outbox"):  # events of security and of webhooks are no actions
        texts.remove((ROOT / f"resolvers/transactions/{other}.py").read_text())
    texts += [path.read_text() for path in (ROOT / "db/queries").rglob("*.sql")]
    nouns = {action.partition(".")[0] for action in diary.ACTIONS}
    named = re.compile(rf"""["']((?:{"|".join(nouns)})\.[a-z_]+(?:ed|led|t))["']""")
    found = {action for text in texts for action in named.findall(text)}
    found |= {f"proposal.{status}" for status in ("accepted", "declined", "withdrawn", "expired")}
    assert found <= diary.ACTIONS.keys()
    assert len(found) > 35


async def test_the_diary_describes_the_actions_of_today(wiki: Wiki) -> None:
    assert (await read_diary(wiki))["bodyMd"].endswith("\n\nNothing happened.")
    kept, gone = await page(wiki, "Priya Sharma", "a"), await page(wiki, "Priya")
    away, deleted = await page(wiki, "Away"), await page(wiki, "Secret plan")
    await merge_pages(wiki.database, wiki.scope, gone, kept)
    await archive_page(wiki.database, wiki.scope, away)
    await delete_page(wiki.database, wiki.scope, deleted)
    found = await read_diary(wiki, lines=100)
    (day,) = found["days"]
    texts = [entry["text"] for entry in day["entries"]]
    assert texts[0] == "Merged another page into [**Priya Sharma**](/wiki/entity/priya-sharma) — user marco"
    assert texts[1:3] == ["Deleted a page — user marco", "Archived entity/away — user marco"]
    assert "Created [**Priya Sharma**](/wiki/entity/priya-sharma) — user marco" in texts
    assert "Secret" not in found["bodyMd"], "of what is deleted nothing is told"
    assert [one["topic"] for one in day["counts"]] == ["MERGED", "FORGOTTEN", "WRITTEN", "LEARNED"]
    assert sum(one["total"] for one in day["counts"]) == len(await wiki.actions())
    assert [entry["page"] and entry["page"]["title"] for entry in day["entries"][:3]] == ["Priya Sharma", None, "Away"]
    assert all(text in found["bodyMd"] for text in texts)


async def test_days_follow_the_time_zone_and_the_range_is_inclusive(wiki: Wiki) -> None:
    page_id = await page(wiki, "Ledger")
    for moment in ("2026-03-01T23:30Z", "2026-03-02T12:00Z", "2026-03-02T22:59Z", "2026-03-02T23:00Z"):
        await log(wiki, "page.compiled", moment.replace("Z", ":00+00:00"), page_id)
    for zone, days in (
        (None, {"2026-03-02": 3, "2026-03-01": 1}),
        ("Europe/Berlin", {"2026-03-03": 1, "2026-03-02": 3}),
        ("America/New_York", {"2026-03-02": 3, "2026-03-01": 1}),
    ):
        found = await read_diary(wiki, since="2026-03-01", until="2026-03-03", zone=zone)
        assert {day["date"]: day["entries"][0]["times"] for day in found["days"]} == days
    only = await read_diary(wiki, since="2026-03-02", until="2026-03-02", zone="Europe/Berlin")
    assert only["bodyMd"].splitlines() == [
        "# Diary, 2026-03-02", "", "## 2026-03-02", "", "3 events: 3 synthesized.", "",
        "- 23:59 Synthesized [**Ledger**](/wiki/entity/ledger), 3 times — agent marco",
    ]  # fmt: skip


async def test_a_busy_day_is_fully_counted_and_partly_listed(wiki: Wiki) -> None:
    pages = [await page(wiki, f"Page {n}") for n in range(5)]
    for n, page_id in enumerate(pages):
        await log(wiki, "page.edited", f"2026-03-02T10:0{n}:00+00:00", page_id, f"agent {n % 2}")
        await log(wiki, "page.compiled", f"2026-03-02T11:0{n}:00+00:00", pages[0], f"agent {n % 2}")
    (day,) = (await read_diary(wiki, since="2026-03-02", until="2026-03-02", lines=2))["days"]
    assert day["counts"] == [{"topic": "SYNTHESIZED", "total": 5}, {"topic": "WRITTEN", "total": 5}]
    assert [(entry["action"], entry["times"]) for entry in day["entries"]] == [("page.compiled", 5), ("page.edited", 1)]
    assert day["entries"][0]["text"].endswith(", 5 times — 2 authors")
    assert day["entries"][1]["page"]["title"] == "Page 4", "the newest first"
    assert (day["moreTotal"], day["isWhole"]) == (4, True)


async def test_only_the_newest_entries_of_a_very_busy_range_are_counted(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diary, "LOGGED_MAX", 3)
    for n in range(5):
        await log(wiki, "lint.reported", f"2026-03-02T10:0{n}:00+00:00")
        await log(wiki, "lint.reported", f"2026-03-03T10:0{n % 3}:00+00:00")
    await wiki.connection.execute("DELETE FROM activity WHERE at >= '2026-03-03T10:02:00+00:00' AND at < '2026-03-04'")
    found = await read_diary(wiki, since="2026-03-01", until="2026-03-04")
    assert [(day["date"], day["isWhole"]) for day in found["days"]] == [("2026-03-03", False), ("2026-03-02", False)]
    assert "More than 3 events: 4 maintained." in found["bodyMd"]


async def test_a_diary_agrees_with_the_log(wiki: Wiki) -> None:
    """The expected counts are computed from the rows, without the days or topics of the statement."""
    page_id = await page(wiki, "Ledger")
    start, zone = datetime(2026, 10, 23, tzinfo=UTC), ZoneInfo("Europe/Berlin")  # in these days summer time ends
    actions = list(diary.ACTIONS)
    for n in range(60):
        moment = start + timedelta(hours=1.7 * n)
        await log(wiki, actions[n * 7 % len(actions)], moment.isoformat(), page_id if n % 3 else None)
    expected: dict[str, Counter[tuple[str, bool]]] = {}
    for row in await wiki.rows("activity"):
        day = str(row["at"].astimezone(zone).date())
        if "2026-10-24" <= day <= "2026-10-26":
            expected.setdefault(day, Counter())[row["action"], row["page_id"] is None] += 1
    found = await read_diary(wiki, since="2026-10-24", until="2026-10-26", zone="Europe/Berlin", lines=100)
    shown = {
        day["date"]: Counter({(entry["action"], entry["page"] is None): entry["times"] for entry in day["entries"]})
        for day in found["days"]
    }
    assert shown == expected
    for day in found["days"]:
        topics: Counter[str] = Counter()
        for (action, _), times in expected[day["date"]].items():
            topics[diary.ACTIONS[action][0].upper()] += times
        assert {one["topic"]: one["total"] for one in day["counts"]} == topics


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": "yesterday"}, {"until": "2026-02-30"}, {"since": "0001-01-01"}, {"until": "9999-12-31"},
        {"since": "2026-03-02", "until": "2026-03-01"}, {"since": "2026-01-01", "until": "2026-03-01"},
        {"zone": "Mars/Olympus"}, {"zone": "../etc/passwd"}, {"zone": "\x00"}, {"zone": "America"}, {"zone": "x" * 99},
        {"lines": 0}, {"lines": -1},
    ],
)  # fmt: skip
async def test_invalid_days_zones_and_line_counts_are_refused(wiki: Wiki, wrong: dict[str, Any]) -> None:
    assert (
        error_code(await execute_document(ENGINE, Context(wiki.database, wiki.scope), DIARY, **wrong))
        == "BAD_USER_INPUT"
    )


async def test_the_diary_of_another_wiki_is_unknown(wiki: Wiki) -> None:
    other = await wiki.neighbour(Role.MEMBER)
    stranger = Context(wiki.database, wiki.with_role(Role.MEMBER).scope)
    assert error_code(await execute_document(ENGINE, stranger, DIARY, owner=str(other.scope.owner_id))) == "NOT_FOUND"


DAYS = st.dates(date(3, 1, 1), date(9_000, 1, 1))


@given(since=st.none() | DAYS, until=st.none() | DAYS, today=DAYS)
def test_a_span_is_never_longer_than_a_month(since: date | None, until: date | None, today: date) -> None:
    try:
        first, last = diary.day_range(since, until, today)
    except BadInput:
        assert since is not None
        assert until is not None
        return
    assert 0 <= (last - first).days < diary.DAYS_MAX
    assert since in (None, first)
    assert until in (None, last)
