"""The texts of sources: language, markup, metadata, and sentences with their scores."""
