"""Deterministic execution of workflow code."""
