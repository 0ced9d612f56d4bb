"""What a markdown text says, without its marks."""

from markdown_it import MarkdownIt

MARKDOWN = MarkdownIt("commonmark").enable("table")


def excerpt(text: str, length: int = 200) -> str:
    """The beginning of its words, cut at a word where that loses little, with … when something is left out."""
    length = max(0, min(length, 2000))
    words = plain(text[: 20 * (length + 50)])
    if len(words) <= length:
        return words
    cut = words[: max(length - 1, 0)]
    space = cut.rfind(" ")
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…" if length else ""


def plain(text: str) -> str:
    """The words of paragraphs and headings in one line."""
    return " ".join(" ".join(inline(text)).split())


def inline(text: str) -> list[str]:
    tokens = [token for token in MARKDOWN.parse(text) if token.type == "inline"]
    return [
        "".join(child.content or " " for child in token.children or () if child.type != "html_inline")
        for token in tokens
    ]
