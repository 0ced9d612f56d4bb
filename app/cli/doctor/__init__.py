"""`cairn doctor`: the checks of an installation, and their findings."""
