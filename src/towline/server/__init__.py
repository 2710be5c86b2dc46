"""The server: thin services over one write path."""
