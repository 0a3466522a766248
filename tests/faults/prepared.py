"""A process that has imported everything `quadrat tune` needs, and becomes one whenever it is told to.

An interpreter that imports it all takes seconds; a copy of one that did takes milliseconds. Each line of its input is
an order in JSON: the arguments, the folder, the environment, the files for output and errors, the faults to install
(see `hooks`). It answers with the number of the new process, and later with the number and the status of each that
ended. It ends, and so do they, when its input does.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

LOOK = 0.02  # seconds between looks for processes that ended
WARM_UP = "def f(params):\n    return params['x']\n"
WARM_SPACE = '[x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'


def warm_up() -> None:
    """Tune something: what is imported late is imported now."""
    from quadrat.cli import main

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        (Path(folder) / "f.py").write_text(WARM_UP)
        (Path(folder) / "space.toml").write_text(WARM_SPACE)
        arguments = ["tune", f"{folder}/f.py:f", "--space", f"{folder}/space.toml", "-n", "5"]
        assert main([*arguments, "--storage", f"{folder}/journal"]) == 0
    sys.modules.pop("quadrat_objective_f", None)


def become(order: dict[str, Any]) -> int:
    """Be the process that was ordered; return its exit status."""
    os.setsid()  # a group of its own, as a command in a terminal has
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for descriptor, path in ((1, order["out"]), (2, order["err"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), descriptor)
    os.chdir(order["folder"])
    os.environ.update(order["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from tests.faults import hooks

    for name, value in order["faults"].items():
        hooks.install(name, value)
    from quadrat.cli import main

    return main(order["arguments"])


def say(what: dict[str, int]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def serve() -> None:
    warm_up()
    orders = os.fdopen(0, "rb", buffering=0)  # nothing may wait in a buffer, where select does not see it
    say({"ready": os.getpid()})
    children: set[int] = set()
    while True:
        readable, _, _ = select.select([0], [], [], LOOK)
        if readable:
            line = orders.readline()
            if not line:
                break
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    status = become(json.loads(line))
                    sys.stdout.flush()
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                finally:
                    os._exit(status)
            children.add(pid)
            say({"begun": pid})
        for pid in list(children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                children.discard(pid)
                say({"ended": pid, "status": os.waitstatus_to_exitcode(status)})
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    serve()
