"""BERT in one file: the forward pass, WordPiece and the page that a browser runs without a server."""
