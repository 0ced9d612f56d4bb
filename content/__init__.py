"""Pure text: names and slugs, links, sections, frontmatter.

It uses no database and no network, and imports no other package of Cairn.
"""
