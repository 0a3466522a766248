"""Acts where the server that starts worker processes imports it, and nowhere else.

Whoever stops a service or a job sends SIGTERM to all its processes. The coordinator then lets what runs finish; but if
the server ended, its workers would count as dead. It ends with the coordinator in any case.
"""

from __future__ import annotations

import signal
import sys

if any(
    "multiprocessing.forkserver" in argument for argument in sys.orig_argv
):  # and not where a tool imports all modules
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # workers set it again, see `process_workers`
