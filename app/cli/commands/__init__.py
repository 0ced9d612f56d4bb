"""The commands of `cairn`, one module for each group."""
