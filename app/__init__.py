"""Processes: the HTTP service, the command line, and what they are set up from. Wiring only."""
