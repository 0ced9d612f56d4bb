"""Reads a folder of trusted documents, in the formats that client tools write.

`ID.graphql` holds one document. A JSON file maps ids to texts, as graphql-codegen and Relay write it, or is Apollo's
persisted-query manifest. An id that looks like a digest must be the digest of its text.
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
    """The folder of trusted documents has a fault."""

    code = "DOCUMENTS_BROKEN"


class TrustedDocument(NamedTuple):
    """A trusted document."""

    id: str
    text: str
    file: Path


class DocumentFault(NamedTuple):
    """A fault of a file, or of a document in it."""

    file: Path
    id: str | None
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.id}: {self.message}" if self.id else f"{self.file}: {self.message}"


class Contents(NamedTuple):
    """The valid documents of a folder, and its faults."""

    documents: list[TrustedDocument]
    faults: list[DocumentFault]


def load_trusted(folder: Path) -> dict[str, str]:
    """Return the texts of a folder, each by its id and by its SHA-256.

    Raises DocumentsBroken, which names the first fault and the number of the others.
    """
    documents, faults = read_folder(folder)
    if faults:
        more = f" (and {len(faults) - 1} more: cairn documents check {folder})" if faults[1:] else ""
        raise DocumentsBroken(f"Trusted documents: {faults[0]}{more}")
    by_id = {document.id: document.text for document in documents}
    return by_id | {sha256(text.encode()).hexdigest(): text for text in by_id.values()}


def read_folder(folder: Path) -> Contents:
    """Return the valid documents in a folder and its subfolders, and the faults of the others."""
    if not folder.is_dir():
        return Contents([], [DocumentFault(folder, None, "there is no such folder.")])
    return read_files(*files_below(folder))


def read_path(path: Path) -> Contents:
    """Return the documents and faults of a folder or of a single file, such as a client's manifest."""
    if path.is_file():
        return read_files([path], [])
    if not path.exists():
        return Contents([], [DocumentFault(path, None, "there is no such file or folder.")])
    return read_folder(path)


def read_files(files: Sequence[Path], faults: list[DocumentFault]) -> Contents:
    """Return the documents of the files, and the given faults followed by those of the files."""
    by_id: dict[str, TrustedDocument] = {}
    for file in files:
        for item in read_file(file):
            if isinstance(item, TrustedDocument) and (first := by_id.setdefault(item.id, item)).text != item.text:
                item = DocumentFault(file, item.id, f"{first.file} has another text under this id.")
            if isinstance(item, DocumentFault):
                faults.append(item)
    return Contents(list(by_id.values()), faults)


def files_below(folder: Path) -> tuple[list[Path], list[DocumentFault]]:
    """Return the files that may hold documents, and a fault for each folder that cannot be read."""
    faults: list[DocumentFault] = []

    def record_fault(error: OSError) -> None:
        faults.append(DocumentFault(Path(error.filename), None, f"cannot be read: {error.strerror}."))

    paths = (Path(parent, name) for parent, _, names in os.walk(folder, onerror=record_fault) for name in names)
    return sorted(path for path in paths if path.suffix in SUFFIXES), faults


def read_file(file: Path) -> Iterator[TrustedDocument | DocumentFault]:
    """Yield the valid documents and the faults of a file."""
    try:
        text = file.read_bytes().decode()
        by_id = parse_manifest(orjson.loads(text)) if file.suffix == ".json" else {file.stem: text}
    except (OSError, ValueError) as error:
        yield DocumentFault(file, None, f"cannot be read: {error}.")
        return
    for id, document in by_id.items():
        id = id.removeprefix(SHA256)
        fault = problem_with(id, document)
        yield DocumentFault(file, id, fault) if fault else TrustedDocument(id, document, file)


def parse_manifest(manifest: Any) -> Mapping[str, Any]:
    """Return the texts of a manifest by id. Raises ValueError if it has none of the known formats."""
    if isinstance(manifest, dict) and manifest.get("format") == APOLLO:
        try:
            by_id = {operation["id"]: operation["body"] for operation in manifest["operations"]}
        except (AttributeError, KeyError, TypeError):
            raise ValueError("an operation of this manifest lacks its id or its body") from None
        if not all(isinstance(id, str) for id in by_id):
            raise ValueError("an id of this manifest is not a text")
        return by_id
    if not isinstance(manifest, dict):
        raise ValueError("a manifest maps ids to documents, or is Apollo's persisted-query manifest")
    return manifest


def problem_with(id: str, text: Any) -> str | None:
    """Return the fault of a document as a sentence, or None if its id and its text are valid."""
    if not ID_PATTERN.fullmatch(id):
        return "an id is 1 to 255 letters, digits and - . _ ~"
    if not isinstance(text, str) or not text.strip():
        return "there is no document under this id."
    id_digest = id.rpartition(":")[2]
    algorithm = DIGESTS.get(len(id_digest)) if HEX.issuperset(id_digest) else None
    if algorithm and (text_digest := algorithm(text.encode(), usedforsecurity=False).hexdigest()) != id_digest:
        return f"the id is not the text's {algorithm.__name__.removeprefix('openssl_')}, which is {text_digest}."
    return None


def refusals(documents: Iterable[TrustedDocument], limits: Limits) -> Iterator[DocumentFault]:
    """Yield a fault for each error of a document by the schema or by the limits."""
    for document in documents:
        try:
            parse_document(GRAPHQL, document.text, limits)
        except Invalid as invalid:
            yield from (DocumentFault(document.file, document.id, error.message) for error in invalid.errors)


def add_documents(folder: Path, files: Sequence[Path], limits: Limits) -> dict[Path, str]:
    """Write each document to the folder as `<sha256>.graphql`, and return the digests by file.

    The folder is created if it does not exist. If any document is invalid, none is written, and DocumentsBroken is
    raised.
    """
    documents = [TrustedDocument(file.name, text_of(file), file) for file in files]
    for fault in refusals(documents, limits):
        raise DocumentsBroken(f"{fault.file}: {fault.message}")
    folder.mkdir(parents=True, exist_ok=True)
    return {document.file: write_file(folder, document.text) for document in documents}


def text_of(file: Path) -> str:
    """Return the text of a file. Raises BadInput if it is not UTF-8."""
    try:
        return file.read_bytes().decode()
    except UnicodeDecodeError:
        raise BadInput(f"{file}: a document is text in UTF-8.") from None


def write_file(folder: Path, text: str) -> str:
    """Write a document atomically, because a server may read the folder at the same time; return its digest."""
    digest = sha256(text.encode()).hexdigest()
    handle, draft = mkstemp(dir=folder, suffix=".draft")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode())
    Path(draft).chmod(0o644)
    Path(draft).replace(folder / f"{digest}.graphql")
    return digest
