"""The OpenAPI contract as one HTML page, without scripts and without requests to anybody."""

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
    """Return the whole page as HTML."""
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
    whole = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title><style>{STYLE}</style></head>\n'
        f"<body>\n{whole}\n</body>\n</html>\n"
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
    """Return one operation as HTML."""
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
                f"<code{mark(one)}>{escape(one['name'])}</code>",
                escape(one["in"]),
                type_of(one["schema"]),
                description_html(one.get("description") or one["schema"].get("description", "")),
            )
            for one in parameters
        ]
        parts += ["<h4>Parameters</h4>", table(("Name", "In", "Type", "Description"), rows)]
    if body := operation.get("requestBody"):
        kinds_taken = [
            (
                f"<code>{escape(kind)}</code>",
                type_of(one["schema"]),
                description_html(one["schema"].get("description", "")),
            )
            for kind, one in body["content"].items()
        ]
        parts.append(f"<h4>Body</h4><p>{description_html(body.get('description', ''))}</p>")
        parts.append(table(("Content type", "Type", "Description"), kinds_taken))
    answers = [
        (f"<code>{escape(status)}</code>", description_html(one["description"]), kinds(one.get("content", {})))
        for status, one in sorted(operation["responses"].items())
    ]
    return "\n".join([*parts, "<h4>Responses</h4>", table(("Status", "When", "Content"), answers)])


def schema(name: str, shape: Shape) -> str:
    """Return one shape as HTML, with its members."""
    head = (
        f'<h3 id="{anchor("schema", name)}">{escape(name)}</h3><p>{description_html(shape.get("description", ""))}</p>'
    )
    if "properties" not in shape:
        return f"{head}<p>{type_of(shape)}</p>"
    required = shape.get("required", ())
    rows = [
        (
            f"<code{mark({'required': member in required})}>{escape(member)}</code>",
            type_of(one),
            description_html(one.get("description", "")),
        )
        for member, one in shape["properties"].items()
    ]
    return head + table(("Member", "Type", "Description"), rows)


def kinds(content: Shape) -> str:
    return "<br>".join(
        f"<code>{escape(kind)}</code>: {type_of(one.get('schema', {}))}" for kind, one in content.items()
    )


def type_of(shape: Shape) -> str:
    """Return a type in a few words, with links to the shapes that it is made of."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        said = f'<a href="#{anchor("schema", name)}">{escape(name)}</a>'
    elif choices := shape.get("anyOf") or shape.get("oneOf") or shape.get("allOf"):
        said = " or ".join(map(type_of, choices))
    elif "const" in shape:
        said = f"<code>{escape(str(shape['const']))}</code>"
    elif "enum" in shape:
        said = "one of " + ", ".join(f"<code>{escape(str(one))}</code>" for one in shape["enum"])
    elif shape.get("type") == "array":
        said = f"array of {type_of(shape.get('items', {}))}"
    else:
        said = escape(" ".join(filter(None, (shape.get("type", "any"), shape.get("format")))))
    notes = [text.format(shape[bound]) for bound, text in BOUNDS.items() if bound in shape]
    if shape.get("default") is not None:
        notes.append(f"default <code>{escape(str(shape['default']))}</code>")
    return f"{said} ({', '.join(notes)})" if notes else said


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def mark(one: Shape) -> str:
    return ' class="required" title="required"' if one.get("required") else ""


def description_html(text: str) -> str:
    """Return a description as HTML: escaped, with its code as code."""
    return CODE.sub(r"<code>\1</code>", escape(text))


def anchor(kind: str, name: str) -> str:
    return escape(f"{kind}-{name}")
