"""What server and SDK tell of themselves: the place for metrics and traces."""
