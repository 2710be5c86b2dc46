"""Workflows that run while everything around them is killed with SIGKILL, again and again.

- `plan.py` decides by a seed who is killed when; `killer.py` does it; `part.py` is a process that comes back.
- `app.py` is the workflow, `work.py` drives many of them and knows what each must come to; `progress.py` ties kills and
  work together.
- `judge.py` looks at every result, history, effect and attempt, and at what is left in the store; `verdict.py` counts.
- `watchdog.py` ends what hangs, and says what hangs. `run.py` puts it all together.
"""
