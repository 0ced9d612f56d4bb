"""Finding names and subjects in sources, and the different forms of a name."""
