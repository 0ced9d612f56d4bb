"""The reader: HTML pages to read, edit and search a wiki in a browser."""
