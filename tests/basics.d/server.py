"""The programs under test, each with its own temporary home directory."""

import os
import queue
import subprocess
import threading

# How long any single wait may take, in seconds.
PATIENCE = 60


class Failed(Exception):
    """A check has failed. The text says what was seen and what was expected."""


def clean_environment(home):
    """The environment without settings of Plyhouse, and with `home` in place of the user's directories."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLY_", "PLYHOUSE_", "XDG_"))}
    return {**kept, "HOME": home, "LC_ALL": "C.UTF-8"}


class Server:
    """A `plyhouse` on a free port. `kill` and `start` restart it on the same port with the same data."""

    def __init__(self, binaries, directory, options):
        self.binaries, self.directory, self.options = binaries, directory, options
        self.data = os.path.join(directory, "data")
        self.port = 0
        self.log = []
        self.process = None

    @property
    def web(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/ws"

    def start(self):
        """Waits for the two lines that a person sees first."""
        command = [os.path.join(self.binaries, "plyhouse"), "--listen", f"127.0.0.1:{self.port}", "--data", self.data]
        self.process = subprocess.Popen(
            [*command, *self.options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(self.directory),
        )
        lines = queue.Queue()
        threading.Thread(target=self._read_log, args=(self.process.stderr, lines), daemon=True).start()
        listening = self._expect(lines, "listening on 127.0.0.1:")
        self.port = int(listening.rsplit(":", 1)[1])
        invitation = f"open {self.web} in a browser"
        if self._expect(lines, "open ") != invitation:
            raise Failed(f"the server does not print `{invitation}`")

    def _read_log(self, stderr, lines):
        for line in stderr:
            self.log.append(line)
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def _expect(self, lines, start):
        """The next line, which has to begin with `start`."""
        try:
            line = lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise Failed(f"the server prints no line `{start}…` within {PATIENCE} s") from None
        if line is None or not line.startswith(start):
            raise Failed(f"the server prints {line!r} instead of `{start}…`")
        return line

    def kill(self):
        """Kills it with SIGKILL."""
        if self.process:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)

    def ply(self, *arguments):
        """A command line that runs `ply` against this server, and its environment."""
        return [os.path.join(self.binaries, "ply"), "--server", self.url, *arguments], clean_environment(self.directory)


def run(command, timeout=PATIENCE, **options):
    """Runs a command to its end, and returns its output. Fails if the command fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **options)
    except subprocess.TimeoutExpired as expired:
        raise Failed(f"`{' '.join(command)}` has not ended after {timeout} s: {expired.stdout}") from None
    if done.returncode != 0:
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout
