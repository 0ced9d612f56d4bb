"""Plans of a planner, validated and matched with the pages that exist."""
