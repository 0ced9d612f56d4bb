"""The hottest pages are those that are read often or whose tags name tools in use."""

from uuid import UUID

from content.knowledge import PageUse, hottest

A, B, C = (UUID(int=n) for n in (1, 2, 3))


def test_a_tag_matches_tools_whose_names_have_all_its_words() -> None:
    calls = {"discord_send": 4, "wiki_read": 2, "DISCORD-bot": 1}
    entries = [PageUse(A, ["Discord"], 0), PageUse(B, ["discord bot"], 0), PageUse(C, ["disc", "—"], 0)]
    assert hottest(entries, calls, 5) == [(A, 5), (B, 1)]


def test_a_tool_call_counts_once_for_two_tags_and_reads_are_added() -> None:
    assert hottest([PageUse(A, ["wiki", "read"], 3)], {"wiki_read": 2}, 5) == [(A, 5)]


def test_the_hottest_pages_come_first_up_to_the_limit() -> None:
    entries = [PageUse(A, [], 1), PageUse(B, [], 3), PageUse(C, [], 1)]
    assert hottest(entries, {}, 2) == [(B, 3), (A, 1)]
