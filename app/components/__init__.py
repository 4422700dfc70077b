"""The few hand-written browser views: one Python wrapper, one script and one style sheet each."""
