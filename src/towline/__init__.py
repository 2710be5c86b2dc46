"""Durable execution for Python."""
