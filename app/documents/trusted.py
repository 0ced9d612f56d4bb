"""Trusted documents: checked against the contract and added to a folder."""

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp

from resolvers.errors import BadInput
from schema.root import GRAPHQL
from selection import Limits
from selection.execute.operation import Invalid, parsed

from .folder import DocumentFault, DocumentsBroken, Trusted


def refusals(documents: Iterable[Trusted], limits: Limits) -> Iterator[DocumentFault]:
    """Yield what is wrong with the documents by the schema and by the limits."""
    for one in documents:
        try:
            parsed(GRAPHQL, one.text, limits)
        except Invalid as invalid:
            yield from (DocumentFault(one.file, one.id, error.message) for error in invalid.errors)


def add_documents(folder: Path, files: Sequence[Path], limits: Limits) -> dict[Path, str]:
    """Write each document as <sha256>.graphql into the folder, creating it if need be, and return the digests by file.
    If one of them is not valid, none is written."""
    read = [Trusted(file.name, text_of(file), file) for file in files]
    for fault in refusals(read, limits):
        raise DocumentsBroken(f"{fault.file}: {fault.message}")
    folder.mkdir(parents=True, exist_ok=True)
    return {one.file: put(folder, one.text) for one in read}


def text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise BadInput(f"{file}: a document is text in UTF-8.") from None


def put(folder: Path, text: str) -> str:
    """Write the file whole or not at all: a server may be reading the folder."""
    digest = sha256(text.encode()).hexdigest()
    handle, draft = mkstemp(dir=folder, suffix=".draft")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    Path(draft).chmod(0o644)
    Path(draft).replace(folder / f"{digest}.graphql")
    return digest
