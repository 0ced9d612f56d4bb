"""Sources in, pages out: read, plan, write sections, link, aggregate, promote."""
