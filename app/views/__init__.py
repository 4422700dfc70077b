"""One thin file a page: read inputs, ask one question, draw."""
