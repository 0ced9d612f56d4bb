"""A wiki as a knowledge base for agents: its references, its lint report and the tools that were called."""
