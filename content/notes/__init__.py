"""Notes as files hold them: frontmatter, and the forms of Obsidian, Logseq and Notion."""
