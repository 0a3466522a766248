"""Imported by the server that starts worker processes, and by nobody else.

Whoever stops a service or a job sends SIGTERM to all its processes. The coordinator then lets what runs finish; but if
the server ended, its workers would count as dead. It ends with the coordinator in any case.
"""

from __future__ import annotations

import signal

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # workers set it again, see `process_workers`
