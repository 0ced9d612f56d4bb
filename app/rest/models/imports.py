"""What came of an import."""

from .shown import Shown


class ImportFault(Shown):
    """What could not be imported, and why."""

    path: str
    code: str
    message: str


class Imported(Shown):
    """What came of an import, as `cairn import` says it; the first thousand of the errors and of the warnings.

    `format` is the tool that the notes were taken to come from; `left_out` counts files that are no notes.
    """

    created: int
    changed: int
    unchanged: int
    failed: int
    sources: int
    links: int
    broken_links: int
    format: str
    left_out: dict[str, int]
    warnings: list[ImportFault]
    errors: list[ImportFault]
