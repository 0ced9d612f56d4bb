"""The paths of /api/wiki, a module for each thing of a wiki."""
