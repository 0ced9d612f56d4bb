"""Numbers of this service: counted in plain memory, added up and written out when somebody asks."""
