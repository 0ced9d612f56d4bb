"""Changes that writes announce, and the clients that follow them."""
