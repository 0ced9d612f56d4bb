"""A folder of trusted documents, in the forms that client tools write.

`ID.graphql` holds one document. A JSON file maps ids to texts, as graphql-codegen and Relay write it, or is Apollo's
persisted-query manifest. An id that looks like a digest must be the text's.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import md5, sha1, sha256
from pathlib import Path
from tempfile import mkstemp
from typing import Any, NamedTuple

import orjson

from resolvers.errors import BadInput, CairnError
from schema.root import GRAPHQL
from selection import Limits
from selection.execute.operation import Invalid, parse_document

from ..http.request import ID_PATTERN, SHA256

DIGESTS = {32: md5, 40: sha1, 64: sha256}
SUFFIXES = (".graphql", ".gql", ".json")
APOLLO = "apollo-persisted-query-manifest"
HEX = frozenset("0123456789abcdef")


class DocumentsBroken(CairnError):
    """The folder of trusted documents cannot be served as it is."""

    code = "DOCUMENTS_BROKEN"


class Trusted(NamedTuple):
    """One document of the folder."""

    id: str
    text: str
    file: Path


class DocumentFault(NamedTuple):
    """A reason why a file, or one document in it, is not served."""

    file: Path
    id: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.id}: {self.message}" if self.id else f"{self.file}: {self.message}"


class Contents(NamedTuple):
    """The documents and the faults that were found in a folder."""

    documents: list[Trusted]
    faults: list[DocumentFault]


def load_trusted(folder: Path) -> dict[str, str]:
    """Return texts by id, each also by its SHA-256. DocumentsBroken names the first fault and counts the others."""
    documents, faults = read_folder(folder)
    if faults:
        more = f" (and {len(faults) - 1} more: cairn documents check {folder})" if faults[1:] else ""
        raise DocumentsBroken(f"Trusted documents: {faults[0]}{more}")
    by_id = {one.id: one.text for one in documents}
    return by_id | {sha256(text.encode()).hexdigest(): text for text in by_id.values()}


def read_folder(folder: Path) -> Contents:
    """Return every document below the folder whose id is right, and what is wrong with the others."""
    if not folder.is_dir():
        return Contents([], [DocumentFault(folder, None, "there is no such folder.")])
    return read_files(*files_below(folder))


def read_path(path: Path) -> Contents:
    """Read a folder of documents, or one file, such as a client's manifest."""
    if path.is_file():
        return read_files([path], [])
    if not path.exists():
        return Contents([], [DocumentFault(path, None, "there is no such file or folder.")])
    return read_folder(path)


def read_files(files: Sequence[Path], faults: list[DocumentFault]) -> Contents:
    """Return the documents of these files, and their faults after those given."""
    known: dict[str, Trusted] = {}
    for file in files:
        for found in read_file(file):
            if isinstance(found, Trusted) and (same := known.setdefault(found.id, found)).text != found.text:
                found = DocumentFault(file, found.id, f"{same.file} has another text under this id.")
            if isinstance(found, DocumentFault):
                faults.append(found)
    return Contents(list(known.values()), faults)


def files_below(folder: Path) -> tuple[list[Path], list[DocumentFault]]:
    """Return the files that may hold documents, and a fault for each folder that cannot be read."""
    faults: list[DocumentFault] = []

    def note(error: OSError) -> None:
        faults.append(DocumentFault(Path(error.filename), None, f"cannot be read: {error.strerror}."))

    found = (Path(parent, name) for parent, _, names in os.walk(folder, onerror=note) for name in names)
    return sorted(file for file in found if file.suffix in SUFFIXES), faults


def read_file(file: Path) -> Iterator[Trusted | DocumentFault]:
    try:
        text = file.read_bytes().decode()
        named = manifest(orjson.loads(text)) if file.suffix == ".json" else {file.stem: text}
    except (OSError, ValueError) as error:
        yield DocumentFault(file, None, f"cannot be read: {error}.")
        return
    for id, document in named.items():
        id = id.removeprefix(SHA256)
        fault = mistake(id, document)
        yield DocumentFault(file, id, fault) if fault else Trusted(id, document, file)


def manifest(read: Any) -> Mapping[str, Any]:
    """Return the texts by id; ValueError says what forms there are."""
    if isinstance(read, dict) and read.get("format") == APOLLO:
        try:
            return {one["id"]: one["body"] for one in read["operations"]}
        except (AttributeError, KeyError, TypeError):
            raise ValueError("an operation of this manifest lacks its id or its body") from None
    if not isinstance(read, dict):
        raise ValueError("a manifest maps ids to documents, or is Apollo's persisted-query manifest")
    return read


def mistake(id: str, text: Any) -> str | None:
    """Return what is wrong with this pair of an id and a text, or None."""
    if not ID_PATTERN.fullmatch(id):
        return "an id is 1 to 255 letters, digits and - . _ ~"
    if not isinstance(text, str) or not text.strip():
        return "there is no document under this id."
    shown = id.rpartition(":")[2]
    digest = DIGESTS.get(len(shown)) if HEX.issuperset(shown) else None
    if digest and (own := digest(text.encode(), usedforsecurity=False).hexdigest()) != shown:
        return f"the id is not the text's {digest.__name__.removeprefix('openssl_')}, which is {own}."
    return None


def refusals(documents: Iterable[Trusted], limits: Limits) -> Iterator[DocumentFault]:
    """Yield what is wrong with the documents by the schema and by the limits."""
    for one in documents:
        try:
            parse_document(GRAPHQL, one.text, limits)
        except Invalid as invalid:
            yield from (DocumentFault(one.file, one.id, error.message) for error in invalid.errors)


def add_documents(folder: Path, files: Sequence[Path], limits: Limits) -> dict[Path, str]:
    """Write each document as <sha256>.graphql into the folder, creating it if need be, and return the digests by file.
    If one of them is not valid, none is written."""
    read = [Trusted(file.name, text_of(file), file) for file in files]
    for fault in refusals(read, limits):
        raise DocumentsBroken(f"{fault.file}: {fault.message}")
    folder.mkdir(parents=True, exist_ok=True)
    return {one.file: write_file(folder, one.text) for one in read}


def text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise BadInput(f"{file}: a document is text in UTF-8.") from None


def write_file(folder: Path, text: str) -> str:
    """Write the file whole or not at all: a server may be reading the folder."""
    digest = sha256(text.encode()).hexdigest()
    handle, draft = mkstemp(dir=folder, suffix=".draft")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    Path(draft).chmod(0o644)
    Path(draft).replace(folder / f"{digest}.graphql")
    return digest
