"""The files of an import or an export: folders, zips, and temporary databases."""
