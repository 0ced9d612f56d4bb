"""Commands that copy, move and erase data as a whole."""
