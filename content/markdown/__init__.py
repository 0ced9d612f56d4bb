"""Markdown as pages and notes are written in it: links, sections, citations, comments, prose, HTML."""
