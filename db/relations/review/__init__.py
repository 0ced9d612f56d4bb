"""Superseded claims, contradictions, grounding, proposals and decisions."""
