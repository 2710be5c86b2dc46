"""Ingest a folder of text files: size, line count and SHA-256 of each, and a report at the end.

    towline server
    towline worker examples.ingest.worker
    python -m examples.ingest FOLDER

What it shows:

- `workflow.py`: one activity for each file, all at once; a file that cannot be ingested is a line in the report, not
  the end of the run.
- `activities.py`: sync activities, run in threads. Each leaves its effect under its idempotency key (`effects.py`), so
  that an attempt which repeats one that crashed after the work, but before its report, finds it done.
- `scan.py`: a file is read in chunks, and after each chunk the position goes out with a heartbeat. When the worker
  dies, the next attempt takes up the newest checkpoint that reached the server.

What is, and what is not, done again after a crash: a SHA-256 in the making cannot be saved, so the bytes before the
checkpoint are read again, but only to be hashed; what was made of them (here: the line count) comes from the
checkpoint. That reading checks something, too: if the bytes are no longer those that the checkpoint was made of, the
file is begun anew. The chunks after the last checkpoint that reached the server are done again in full.
"""
