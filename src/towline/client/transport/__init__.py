"""Ways to reach a server: gRPC calls, one stream for many calls, or no wire at all."""
