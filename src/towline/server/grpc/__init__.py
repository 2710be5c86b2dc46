"""The gRPC front: the contract's methods, one by one or many on a stream, over the services."""
