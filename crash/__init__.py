"""Workflows that run while everything around them is killed with SIGKILL, again and again."""
