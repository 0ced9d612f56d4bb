"""Reads the sample wiki as plain text: its owners, pages, sources and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

SAMPLE = Path(__file__).parents[2] / "app" / "sample"
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.DOTALL | re.MULTILINE)
LINK_FORMS = {
    "markdown": re.compile(r"\[[^\]]+\]\(wiki:(?P<slug>[^)#]+)(?:#(?P<heading>[^)]+))?\)"),
    "path": re.compile(r"\[[^\]]+\]\(/wiki/(?P<type>[a-z]+)/(?P<slug>[^)#]+)(?:#(?P<heading>[^)]+))?\)"),
    "brackets": re.compile(r"\[\[(?:(?P<space>[^\]|:]+):)?(?P<slug>[^\]|:]+)\]\]"),
    "piped": re.compile(r"\[\[(?:(?P<space>[^\]|:]+):)?(?P<slug>[^\]|:]+)\|[^\]]+\]\]"),
}


@dataclass(frozen=True)
class Link:
    form: str
    slug: str
    space: str | None
    type: str | None
    heading: str | None


@dataclass(frozen=True)
class File:
    path: Path
    front: dict[str, Any]
    body: str

    def __str__(self) -> str:
        return str(self.path.relative_to(SAMPLE))

    @cached_property
    def lines(self) -> list[str]:
        return self.body.splitlines()

    @cached_property
    def sections(self) -> dict[str, str]:
        parts = re.split(r"^## (.+)$", self.body, flags=re.MULTILINE)
        assert not parts[0].strip(), f"{self}: text before the first heading"
        return {heading: text.strip() for heading, text in zip(parts[1::2], parts[2::2], strict=True)}

    @cached_property
    def section_slugs(self) -> dict[str, str]:
        return {re.sub(r"\W+", "_", heading.casefold()): text for heading, text in self.sections.items()}

    @cached_property
    def links(self) -> list[Link]:
        prose = CODE.sub("", self.body)
        found = ((form, match.groupdict()) for form, regex in LINK_FORMS.items() for match in regex.finditer(prose))
        return [
            Link(form, parts["slug"], parts.get("space"), parts.get("type"), parts.get("heading"))
            for form, parts in found
        ]


@dataclass(frozen=True)
class Owner:
    tenant: str
    slug: str
    kind: str
    members: list[dict[str, str]]

    @property
    def folder(self) -> Path:
        return SAMPLE / self.tenant / self.slug

    @cached_property
    def sources(self) -> dict[str, File]:
        return {file.front["ref"]: file for file in read_folder(self.folder / "sources")}

    @cached_property
    def pages(self) -> dict[str, File]:
        return {file.front["slug"]: file for file in read_folder(self.folder / "pages")}

    @cached_property
    def mentions(self) -> list[dict[str, Any]]:
        return list(load_yaml((self.folder / "mentions.yaml").read_text(encoding="utf-8")))


def load_yaml(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def read_file(path: Path) -> File:
    opening, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert opening == "", f"{path} does not begin with frontmatter"
    return File(path, load_yaml(front), body)


def read_folder(folder: Path) -> list[File]:
    return [read_file(path) for path in sorted(folder.iterdir())]


def read_owners() -> list[Owner]:
    sample = load_yaml((SAMPLE / "sample.yaml").read_text(encoding="utf-8"))
    return [
        Owner(tenant["slug"], owner["slug"], owner["kind"], owner.get("members", []))
        for tenant in sample["tenants"]
        for owner in tenant["owners"]
    ]


def ancestors(owner: Owner, page: File) -> Iterator[File]:
    """Yield the parents, the nearest first. Raises KeyError for an unknown parent; a cycle fails."""
    seen = {page.front["slug"]}
    while parent := page.front.get("parent"):
        type_, slug = parent.split("/")
        page = owner.pages[slug]
        assert page.front["type"] == type_
        assert slug not in seen, f"{slug} is its own ancestor"
        seen.add(slug)
        yield page


def cited_lines(source: File, lines: str) -> list[str]:
    first, _, last = lines.partition("-")
    start, end = int(first), int(last or first)
    assert 1 <= start <= end <= len(source.lines), f"{source} has no lines {lines}"
    return source.lines[start - 1 : end]
