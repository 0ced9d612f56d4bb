"""Pages, drafts and outlines as plain values that every write works with."""
