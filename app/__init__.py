"""Processes: the HTTP service, the command line, and their settings. This package only wires the other packages."""
