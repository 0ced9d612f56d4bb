"""Superseded claims of pages, and the rules that recognise corrections and contradictions."""
