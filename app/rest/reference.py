"""Renders the OpenAPI contract as an HTML page, without scripts and without requests to other servers."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

Shape = Mapping[str, Any]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem 1.25rem 6rem; }
code { font: .9em ui-monospace, monospace; }
nav ul { columns: 16rem; padding-left: 1.2rem; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
h3 code { background: var(--soft); border-radius: 4px; padding: .15rem .4rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; display: block; overflow-x: auto; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
.required { font-weight: 600; }
"""
POLICY = "; ".join([
    "default-src 'none'",
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
])  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")
CODE = re.compile(r"`([^`]+)`")
BOUNDS = {
    "minimum": "at least {}", "maximum": "at most {}", "minLength": "at least {} characters",
    "maxLength": "at most {} characters", "minItems": "at least {} items", "maxItems": "at most {} items",
}  # fmt: skip


def reference(contract: Shape) -> str:
    """Return the HTML page of a contract."""
    info, shapes = contract["info"], contract["components"]["schemas"]
    by_tag: dict[str, list[tuple[str, str, Shape]]] = {}
    for path, method, operation in operations(contract):
        by_tag.setdefault(operation["tags"][0], []).append((path, method, operation))
    base = contract["servers"][0]["url"]
    title = f"{info['title']} REST API"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{description_html(info['description'])}</p>",
        f"<p>Paths are below <code>{escape(base)}</code>. Send <code>Authorization: Bearer TOKEN</code> with a token "
        f'or an API key. For programs: <a href="{escape(base)}/openapi.json">openapi.json</a>.</p>',
        f"<nav>{''.join(contents(by_tag))}</nav>",
    ]
    for tag, members in by_tag.items():
        parts.append(f'<section><h2 id="{anchor("tag", tag)}">{escape(tag.capitalize())}</h2>')
        parts += [operation_html(path, method, operation) for path, method, operation in members]
        parts.append("</section>")
    parts.append('<section><h2 id="schemas">Schemas</h2>')
    parts += [schema(name, shapes[name]) for name in sorted(shapes)]
    parts.append("</section>")
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def operations(contract: Shape) -> Iterator[tuple[str, str, Shape]]:
    for path, methods in contract["paths"].items():
        for method in METHODS:
            if method in methods:
                yield path, method, methods[method]


def contents(by_tag: Mapping[str, Iterable[tuple[str, str, Shape]]]) -> Iterator[str]:
    for tag, members in by_tag.items():
        yield f'<h2><a href="#{anchor("tag", tag)}">{escape(tag.capitalize())}</a></h2><ul>'
        for _, _, operation in members:
            yield f'<li><a href="#{escape(operation["operationId"])}">{escape(operation["summary"])}</a></li>'
        yield "</ul>"
    yield '<p><a href="#schemas">Schemas</a></p>'


def operation_html(path: str, method: str, operation: Shape) -> str:
    """Return an operation as HTML."""
    name = operation["operationId"]
    parts = [
        f'<h3 id="{escape(name)}">{escape(operation["summary"])} <code>{method.upper()} {escape(path)}</code></h3>',
        f"<p>{description_html(operation.get('description', ''))} Operation <code>{escape(name)}</code>.</p>",
    ]
    if not operation.get("security"):
        parts.append("<p>It needs no credential.</p>")
    if parameters := operation.get("parameters"):
        rows = [
            (
                f"<code{mark(parameter)}>{escape(parameter['name'])}</code>",
                escape(parameter["in"]),
                type_of(parameter["schema"]),
                description_html(parameter.get("description") or parameter["schema"].get("description", "")),
            )
            for parameter in parameters
        ]
        parts += ["<h4>Parameters</h4>", table(("Name", "In", "Type", "Description"), rows)]
    if body := operation.get("requestBody"):
        content_types = [
            (
                f"<code>{escape(content_type)}</code>",
                type_of(media["schema"]),
                description_html(media["schema"].get("description", "")),
            )
            for content_type, media in body["content"].items()
        ]
        parts.append(f"<h4>Body</h4><p>{description_html(body.get('description', ''))}</p>")
        parts.append(table(("Content type", "Type", "Description"), content_types))
    responses = [
        (
            f"<code>{escape(status)}</code>",
            description_html(response["description"]),
            content_html(response.get("content", {})),
        )
        for status, response in sorted(operation["responses"].items())
    ]
    return "\n".join([*parts, "<h4>Responses</h4>", table(("Status", "When", "Content"), responses)])


def schema(name: str, shape: Shape) -> str:
    """Return a schema as HTML, with its members."""
    head = (
        f'<h3 id="{anchor("schema", name)}">{escape(name)}</h3><p>{description_html(shape.get("description", ""))}</p>'
    )
    if "properties" not in shape:
        return f"{head}<p>{type_of(shape)}</p>"
    required = shape.get("required", ())
    rows = [
        (
            f"<code{mark({'required': name in required})}>{escape(name)}</code>",
            type_of(member),
            description_html(member.get("description", "")),
        )
        for name, member in shape["properties"].items()
    ]
    return head + table(("Member", "Type", "Description"), rows)


def content_html(content: Shape) -> str:
    return "<br>".join(
        f"<code>{escape(content_type)}</code>: {type_of(media.get('schema', {}))}"
        for content_type, media in content.items()
    )


def type_of(shape: Shape) -> str:
    """Return the type of a schema as HTML, with links to the schemas that it refers to."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        text = f'<a href="#{anchor("schema", name)}">{escape(name)}</a>'
    elif choices := shape.get("anyOf") or shape.get("oneOf") or shape.get("allOf"):
        text = " or ".join(map(type_of, choices))
    elif "const" in shape:
        text = f"<code>{escape(str(shape['const']))}</code>"
    elif "enum" in shape:
        text = "one of " + ", ".join(f"<code>{escape(str(value))}</code>" for value in shape["enum"])
    elif shape.get("type") == "array":
        text = f"array of {type_of(shape.get('items', {}))}"
    else:
        text = escape(" ".join(filter(None, (shape.get("type", "any"), shape.get("format")))))
    notes = [note.format(shape[bound]) for bound, note in BOUNDS.items() if bound in shape]
    if shape.get("default") is not None:
        notes.append(f"default <code>{escape(str(shape['default']))}</code>")
    return f"{text} ({', '.join(notes)})" if notes else text


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def mark(parameter: Shape) -> str:
    return ' class="required" title="required"' if parameter.get("required") else ""


def description_html(text: str) -> str:
    """Return a description as escaped HTML, in which backticks become code elements."""
    return CODE.sub(r"<code>\1</code>", escape(text))


def anchor(kind: str, name: str) -> str:
    return escape(f"{kind}-{name}")
