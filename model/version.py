"""The version of Bertscope, here and nowhere else: the package, the app and everything exported take it from this line."""

__version__ = "1.0.0"
