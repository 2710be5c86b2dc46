"""How fast Towline is: server, worker and client in a process each, SQLite with synchronous=FULL."""
