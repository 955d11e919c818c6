"""Headless Chromium for the tests, driven over its debugging pipe: JSON messages, a zero byte after each. No driver."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 240.0
"""Seconds after which a browser that says nothing counts as broken; long, because test machines may be busy."""


def chromium() -> str | None:
    """The path of a Chromium, or None where none is installed."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page of one browser. Everything that the page logs or asks the network for is kept."""

    def __init__(self, profile: Path) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._answers: dict[int, dict[str, Any]] = {}
        self._events: list[str] = []
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        their_in, self._out = os.pipe()
        self._in, their_out = os.pipe()

        def at_3_and_4() -> None:
            # Chromium reads descriptor 3 and writes descriptor 4; a pipe with one of these numbers must stay.
            read, write = (fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (their_in, their_out))
            os.dup2(read, 3)
            os.dup2(write, 4)

        program = chromium()
        assert program is not None
        self._process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            close_fds=False,
            preexec_fn=at_3_and_4,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def open(self, file: Path) -> None:
        """Loads a file from disk and waits until its scripts have run."""
        self._events.clear()
        self.call("Page.navigate", url=file.resolve().as_uri())
        self._wait(lambda: "Page.loadEventFired" in self._events)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def look(self, *, width: int = 1200, height: int = 900, dark: bool = False) -> None:
        """The size of the window and the colours that the reader prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, file: Path, *, whole: bool = False) -> None:
        """A picture of the window, or of the whole page."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(picture))

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(30)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the DevTools protocol and its result."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        self._wait(lambda: number in self._answers)
        answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def _wait(self, done: Any) -> None:
        until = time.monotonic() + PATIENCE
        while not done():
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self._in, 1 << 20)
            assert data, "the browser has ended"
            *messages, self._buffer = (self._buffer + data).split(b"\0")
            for message in messages:
                self._take(json.loads(message))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers[message["id"]] = message
            return
        method, about = message["method"], message["params"]
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
