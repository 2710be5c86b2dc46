"""For tests of code that runs on Towline: a clock that a test moves, ids that it can foretell."""
