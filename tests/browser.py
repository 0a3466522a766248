"""A headless Chromium for tests, driven over its DevTools protocol through two pipes: no port, no further package.

When the pipes close, Chromium ends by itself; whatever is left of its process group is killed.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Browser", "Page", "chromium_or_skip", "running_browser"]

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE = 240.0  # seconds for any answer: a machine may be busy with other things
_ENDING = 5.0  # seconds to end by itself
_FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # containers run tests as root
    "--no-first-run",
    "--disable-gpu",
    "--use-angle=swiftshader",  # WebGL on the processor
    "--enable-unsafe-swiftshader",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--mute-audio",
)


def chromium_or_skip() -> str:
    """Return the path of Chromium; skip the test where none is installed."""
    found = next((path for name in _PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no Chromium is installed: none of {', '.join(_PROGRAMS)} is on PATH")
    return found


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run Chromium for the length of a block."""
    program = chromium_or_skip()
    profile = tempfile.mkdtemp(prefix="quadrat-chromium-")
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    # Numbers far above 3 and 4, where Chromium expects its ends: or else one copy overwrites the other's source.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 50) for end in (commands, answers)]
    log = os.open(f"{profile}/log", os.O_CREAT | os.O_WRONLY)
    process = os.posix_spawn(
        program,
        [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        {**os.environ, "HOME": profile},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, ends[0], 3),
            (os.POSIX_SPAWN_DUP2, ends[1], 4),
            (os.POSIX_SPAWN_DUP2, log, 1),
            (os.POSIX_SPAWN_DUP2, log, 2),
        ],
        setpgroup=0,
    )
    for end in (commands, answers, log, *ends):
        os.close(end)
    try:
        yield Browser(to_browser, from_browser)
    finally:
        os.close(to_browser)
        os.close(from_browser)
        _end(process)
        shutil.rmtree(profile, ignore_errors=True)


def _end(process: int) -> None:
    """Wait until Chromium has ended, with all that it started."""
    deadline = time.monotonic() + _ENDING
    while os.waitpid(process, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError):  # until nobody is left, or only dead ones that nobody has buried
        while time.monotonic() < deadline + 1.0:
            os.killpg(process, signal.SIGKILL)
            time.sleep(0.02)


class Browser:
    """The two ends of the pipes: messages are JSON, with a zero byte behind each."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **options: Any) -> dict[str, Any]:
        """Send a command; return its answer. Events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": options}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        deadline = time.monotonic() + _PATIENCE
        while True:
            answer = self.receive(deadline - time.monotonic())
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def receive(self, patience: float) -> dict[str, Any] | None:
        """Return the next message; None where none comes within so many seconds."""
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(patience, 0.0))[0]:
                return None
            got = os.read(self._in, 1 << 20)
            assert got, "Chromium has ended"
            self._rest += got
        first, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(first)
        if "method" in message:
            self.events.append(message)
        return message

    @contextmanager
    def page(self, url: str, *, width: int = 1280, height: int = 800, dark: bool = False) -> Iterator[Page]:
        """Open a page for the length of a block, and wait until it has loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.look(width, height, dark=dark)
        page.send("Page.navigate", url=url)
        page.wait("document.readyState === 'complete'")
        try:
            yield page
        finally:
            self.send("Target.closeTarget", targetId=target)


class Page:
    """One page of the browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def send(self, method: str, **options: Any) -> dict[str, Any]:
        """Send a command to the page; return its answer."""
        return self._browser.send(method, self._session, **options)

    def look(self, width: int, height: int, *, dark: bool) -> None:
        """Give the screen a size and the reader a preference."""
        narrow = width < 600
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if narrow else 1,
            mobile=narrow,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def run(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is waited for."""
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def wait(self, expression: str, patience: float = _PATIENCE) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + patience
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < deadline, f"never true: {expression}; {self.errors()}"
            time.sleep(0.05)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key such as Tab, Enter or a letter."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        options = {
            "key": key,
            "code": "Space" if key == " " else key,
            "windowsVirtualKeyCode": codes.get(key, 0),
            "modifiers": 8 if shift else 0,
        }
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **options)
        self.send("Input.dispatchKeyEvent", type="keyUp", **options)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """Write what is seen, or the whole page, as a PNG."""
        got = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(got["data"]))

    def errors(self) -> list[str]:
        """Return what went wrong so far: exceptions, errors on the console, what the page must not do."""
        self.run("1")  # whatever came before has arrived then
        return [text for event in self._events() if (text := _complaint(event))]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, but for those inside it."""
        self.run("1")
        asked = (event["params"] for event in self._events() if event["method"] == "Network.requestWillBeSent")
        return [one["request"]["url"] for one in asked if not one["request"]["url"].startswith(("data:", "blob:"))]

    def dialogs(self) -> list[str]:
        """Return the messages of dialogs that were opened."""
        return [e["params"]["message"] for e in self._events() if e["method"] == "Page.javascriptDialogOpening"]

    def _events(self) -> list[dict[str, Any]]:
        return [event for event in self._browser.events if event.get("sessionId") == self._session]


def _complaint(event: dict[str, Any]) -> str | None:
    """Return what an event complains of, or None."""
    method, told = event["method"], event["params"]
    if method == "Runtime.exceptionThrown":
        details = told["exceptionDetails"]
        return str(details.get("exception", {}).get("description", details["text"]))
    if method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
        return " ".join(str(one.get("value", one.get("description"))) for one in told["args"])
    if method == "Log.entryAdded" and told["entry"]["level"] == "error":
        return str(told["entry"]["text"])
    return None
