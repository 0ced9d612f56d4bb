"""The paths of /api/wiki, with a module for each kind of resource."""
