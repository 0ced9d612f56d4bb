"""Import and export of wikis as folders of notes, zips and lines of JSON."""
