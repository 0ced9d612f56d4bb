"""The semantic leg of search, which is off unless an embedding server is set: vectors, their job, and their use."""
