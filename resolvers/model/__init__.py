"""Pages, drafts and outlines: the plain values that all writes work with."""
