"""Where things are unless the user says otherwise."""

from typing import Final

# The server listens here, and clients look for it here.
DEFAULT_ADDRESS: Final = "127.0.0.1:7470"
# Workers that nobody gave a task queue serve this one, and `towline start` starts on it.
DEFAULT_TASK_QUEUE: Final = "default"
