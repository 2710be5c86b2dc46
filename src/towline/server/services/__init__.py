"""The contract's services: decode, call, encode. Rules are the core's."""
