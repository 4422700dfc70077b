"""The browser laboratory."""
