"""Pure text: names and slugs, links, sections, frontmatter. No I/O, and nothing else of ours is imported."""
