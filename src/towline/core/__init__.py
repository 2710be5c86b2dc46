"""The rules, and nothing else: no I/O, no clock, no randomness, no asyncio, no logging.

`decide.decide` says what a request does to a run, `apply.apply` says what an event does to the state. Each noun
(workflow task, activity, signal, execution) has its rules in files that begin with its name.
"""
