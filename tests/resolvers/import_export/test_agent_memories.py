"""Files of an agent's memory, and of its insights, become pages that cite them."""

from pathlib import Path

import pytest

from db.scope import Role
from resolvers.auth.wiki_settings import WikiSettings, update_wiki_settings
from resolvers.errors import BadInput
from resolvers.import_export.memories import migrate_insights, migrate_typed_memories
from resolvers.proposals.gate import Policy, PolicyRule, WriterRole
from tests.wiki import Wiki

FEEDBACK = """---
name: Small batches
description: Roast little at once.
confidence: high
---
Roast 5 kg at most.

**Why:** The drum cools slowly.

**How to apply:** Weigh the batch first.
"""


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    texts = {
        "feedback_small-batches.md": FEEDBACK,
        "user_mara.md": "# Mara\n\nShe roasts coffee.",
        "project_ledger.md": "It runs on MySQL.\n\n**Why:** Writes were slow.",
        "reference_dashboard.md": "At grafana/ledger.",
        "reference_empty.md": "\n",
        "2026-03-02.md": "A day.",
        "notes.txt": "Nothing.",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


async def test_each_memory_becomes_a_page_that_cites_its_file(wiki: Wiki, memory: Path) -> None:
    done = await migrate_typed_memories(wiki.database, wiki.scope, memory)
    assert sorted(done.pages) == ["concept/small-batches", "entity/mara", "project/ledger", "reference/dashboard"]
    assert (sorted(done.left_out), done.refused) == (["2026-03-02.md", "reference_empty.md"], [])
    pages = {page["slug"]: page for page in await wiki.rows("pages")}
    concept = pages["small-batches"]
    assert (concept["title"], concept["summary"]) == ("Small batches", "Roast little at once.")
    assert concept["metadata"] == {"confidence": "high", "migrated_from": "memory/feedback_small-batches.md"}
    sections = {row["section_slug"]: row["body_md"] for row in await wiki.rows("sections", page_id=concept["id"])}
    assert sections == {
        "summary": "Roast 5 kg at most.", "why": "The drum cools slowly.", "how_to_apply": "Weigh the batch first.",
        "related": "",
    }  # fmt: skip
    assert len(await wiki.rows("section_sources", page_id=concept["id"])) == 3
    assert {row["ref"] for row in await wiki.rows("sources")} >= {"memory/user_mara.md", "memory/project_ledger.md"}
    assert pages["mara"]["title"] == "Mara"


async def test_repeating_a_migration_writes_only_pages_of_changed_files(wiki: Wiki, memory: Path) -> None:
    await migrate_typed_memories(wiki.database, wiki.scope, memory)
    before = [await wiki.rows(table) for table in ("pages", "revisions", "sources")]
    again = await migrate_typed_memories(wiki.database, wiki.scope, memory)
    assert (again.pages, len(again.unchanged)) == ([], 4)
    assert [await wiki.rows(table) for table in ("pages", "revisions", "sources")] == before
    (memory / "user_mara.md").write_text("# Mara\n\nShe left.")
    changed = await migrate_typed_memories(wiki.database, wiki.scope, memory)
    assert changed.pages == ["entity/mara"]
    assert (await wiki.row("pages", slug="mara"))["version"] == 2


async def test_insights_become_themes(wiki: Wiki, tmp_path: Path) -> None:
    (tmp_path / "2026-03-02-deadlines.md").write_text("# Deadlines slip in spring\n\nThree of them did.")
    (tmp_path / "._2026-03-02-deadlines.md").write_bytes(b"\0\5\x16\7 of a Mac")
    done = await migrate_insights(wiki.database, wiki.scope, tmp_path)
    assert (done.pages, done.refused) == (["theme/2026-03-02-deadlines"], [])
    page = await wiki.row("pages")
    assert (page["type"], page["title"]) == ("theme", "Deadlines slip in spring")
    assert (await wiki.row("sources"))["captured_at"].date().isoformat() == "2026-03-02"


async def test_headings_of_a_memory_or_an_insight_begin_sections_of_its_page(wiki: Wiki, tmp_path: Path) -> None:
    lunch = "# Lunch\n\n## Seen\n\nPeople skip it.\n\n## evidence\n\n- In May.\n- In June.\n"
    (tmp_path / "2026-03-02-lunch.md").write_text(lunch)
    assert (await migrate_insights(wiki.database, wiki.scope, tmp_path)).refused == []
    page = await wiki.row("pages")
    assert (page["summary"], page["body_md"]) == (
        "People skip it.",
        "## Summary\n\n## Pattern\n\n## evidence\n\n- In May.\n- In June.\n\n## Related\n\n## Seen\n\nPeople skip it.",
    )
    assert len(await wiki.rows("section_sources", page_id=page["id"])) == 2
    ledger = "MySQL.\n\n**Why:** Writes.\n\n## Timeline\n\n### May\n\nBegun.\n\n## Why\n\nAnd reads."
    (tmp_path / "project_ledger.md").write_text(ledger)
    assert (await migrate_typed_memories(wiki.database, wiki.scope, tmp_path)).pages == ["project/ledger"]
    page = await wiki.row("pages", slug="ledger")
    sections = {row["section_slug"]: row["body_md"] for row in await wiki.rows("sections", page_id=page["id"])}
    assert {slug: text for slug, text in sections.items() if text} == {
        "overview": "MySQL.", "why": "Writes.\n\nAnd reads.", "timeline": "### May\n\nBegun.",
    }  # fmt: skip


async def test_memories_are_proposed_where_writes_are_reviewed(wiki: Wiki, memory: Path) -> None:
    rule = PolicyRule(WriterRole.MEMBER, Policy.REVIEW)
    await update_wiki_settings(wiki.database, wiki.scope, WikiSettings(write_policy=[rule]))
    done = await migrate_typed_memories(wiki.database, wiki.with_role(Role.MEMBER).scope, memory)
    assert (done.pages, len(done.proposed)) == ([], 4)
    assert await wiki.rows("pages") == []
    assert len(await wiki.rows("proposals", status="open")) == 4


async def test_a_missing_folder_or_a_file_that_is_not_text_is_refused(wiki: Wiki, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no folder"):
        await migrate_insights(wiki.database, wiki.scope, tmp_path / "none")
    (tmp_path / "a.md").write_bytes(b"\xff\xfe\xff")
    done = await migrate_insights(wiki.database, wiki.scope, tmp_path)
    assert [name for name, _ in done.refused] == ["a.md"]
