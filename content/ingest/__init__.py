"""The reading of files: their text, the sentences in it for agents, and the text of a page about them."""
