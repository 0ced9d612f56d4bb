"""Claims that pages make no longer, contradict each other in, or decide."""
