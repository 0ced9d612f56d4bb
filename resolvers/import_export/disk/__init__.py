"""Files of an import or an export: folders, zips, and rows that wait."""
