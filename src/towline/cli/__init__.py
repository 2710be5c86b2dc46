"""The `towline` command: one file per command, composed in `main`."""
