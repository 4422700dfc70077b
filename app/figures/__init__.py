"""Pure functions: an answer in, a figure out."""
