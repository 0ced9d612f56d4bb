"""Importing a real vault: the documentation of Obsidian, which writes links in every way that it teaches."""

from dataclasses import replace

import pytest

from tests.content.notes.test_vault import VAULT
from tests.resolvers.import_export.vaults import backlinks, import_counts, run_import
from tests.wiki import Wiki

needs_vault = pytest.mark.skipif(not VAULT.is_dir(), reason="the vault of Obsidian's documentation is not here")

# The notes in which grep -i finds [[Callouts, [[Daily notes and [[Obsidian Web Clipper/Templates.
BACKLINKS = {
    "Editing and formatting/Callouts.md": {
        "Contributing to Obsidian/Style guide.md",
        "Editing and formatting/Basic formatting syntax.md",
        "Editing and formatting/Obsidian Flavored Markdown.md",
        "Obsidian Web Clipper/Filters.md",
    },
    "Plugins/Daily notes.md": {
        "Editing and formatting/Properties.md",
        "Extending Obsidian/Obsidian CLI.md",
        "Extending Obsidian/Obsidian URI.md",
        "Obsidian Sync/Troubleshoot Obsidian Sync.md",
        "Obsidian Web Clipper/Templates.md",
        "Plugins/Core plugins.md",
        "Plugins/Templates.md",
    },
    "Obsidian Web Clipper/Templates.md": {
        "Obsidian Web Clipper/Clip web pages.md",
        "Obsidian Web Clipper/Filters.md",
        "Obsidian Web Clipper/Interpreter.md",
        "Obsidian Web Clipper/Introduction to Obsidian Web Clipper.md",
        "Obsidian Web Clipper/Troubleshoot Web Clipper.md",
        "Obsidian Web Clipper/Variables.md",
    },
}


@needs_vault
async def test_a_real_vault_is_imported_and_a_second_import_changes_nothing(wiki: Wiki) -> None:
    first = await run_import(wiki, VAULT)
    assert import_counts(first) == (173, 0, 0, 0)
    assert first.errors == ()
    found = await backlinks(wiki)
    for path, linking in BACKLINKS.items():
        assert found[path] == linking
    assert "Obsidian Sync/Headless Sync.md" in found["Obsidian Sync/Security and privacy.md"], "the same folder first"
    assert "Obsidian Publish/Introduction to Obsidian Publish.md" in found["Obsidian Publish/Security and privacy.md"]
    aliases = {row["alias"] for row in await wiki.rows("aliases")}
    assert {"how to internal link", "internal link", "internal links"} <= aliases

    second = await run_import(wiki, VAULT)
    assert second == replace(first, created=0, unchanged=173)
    assert {page["version"] for page in await wiki.rows("pages")} == {1}
    assert len(await wiki.rows("revisions")) == 173
