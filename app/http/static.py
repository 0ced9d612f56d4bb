"""Static files, whose names contain a hash of their content, so that browsers can cache them for ever."""

import hashlib
from pathlib import Path

FOR_EVER = "public, max-age=31536000, immutable"


def versioned_name(file: Path) -> str:
    """Return the name under which a file is served, which contains a hash of its content."""
    return f"{file.stem}-{hashlib.sha256(file.read_bytes()).hexdigest()[:12]}{file.suffix}"
