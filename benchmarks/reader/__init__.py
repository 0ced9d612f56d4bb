"""Measures the cost of the reader: of the server, the network and typing a search."""
