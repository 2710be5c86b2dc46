"""The contract in Python, made by script/proto. Never edited."""
