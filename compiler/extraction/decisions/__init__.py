"""Finding the decisions in a source: sentences, lists, motions and titles that state one."""
