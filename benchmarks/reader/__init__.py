"""What the reader costs: the server, the network and whoever types."""
