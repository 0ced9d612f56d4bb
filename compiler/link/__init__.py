"""The links that the compiler creates, from text and from evidence."""
