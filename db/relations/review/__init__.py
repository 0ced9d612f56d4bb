"""Relations of what is claimed and decided: claims, contradictions, grounding, proposals and decisions."""
