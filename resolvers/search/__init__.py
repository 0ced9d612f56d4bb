"""Search over one wiki: the rows it reads, what a question means, and which pages answer it."""
