"""stdin, stdout and stderr as a command finds them, on any terminal and on none."""

import io
import os
import sys
from pathlib import Path


def prepare_streams() -> None:
    """Letters that a terminal lacks stop no command, and a stream that was closed is one to nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
