"""`ply` in a pseudo terminal, and the screen that it draws there."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from server import PATIENCE, Failed

ROWS, COLUMNS = 30, 100

# A control sequence with its parameters and its final byte; a shorter escape; a control character; text.
TOKEN = re.compile(r"\x1b\[([0-9;?]*)([@-~])|\x1b[^\[]|([\x00-\x1a])|([^\x00-\x1b]+)")


class Terminal:
    """Runs a command in a terminal of 30 rows and 100 columns, and keeps what is on its screen.

    Knows the control sequences that `ply` uses: placing the cursor and erasing. Ignores colours and modes.
    """

    def __init__(self, command, environment):
        self.side, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=other,
            stdout=other,
            stderr=other,
            env={**environment, "TERM": "xterm-256color"},
            start_new_session=True,
        )
        os.close(other)
        self.rows = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.undrawn = b""
        self.has_ended = False

    @property
    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.rows)

    def types(self, text):
        os.write(self.side, text.encode())

    def wait(self, what, is_seen):
        """Reads until `is_seen` returns something true for the screen's text, and returns that."""
        deadline = time.monotonic() + PATIENCE
        while not (seen := is_seen(self.text)):
            if not self._read(deadline):
                raise Failed(f"{what}: not on the screen of `ply`, which shows\n{self.text}")
        return seen

    def wait_for_end(self):
        """Reads until the program has ended, and returns its status."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        try:
            return self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed(f"`ply` has not ended, and shows\n{self.text}") from None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)
        os.close(self.side)

    def _read(self, deadline):
        """Draws the next output. False at the end, and after the deadline."""
        readable, _, _ = select.select([self.side], [], [], max(0, deadline - time.monotonic()))
        try:
            output = os.read(self.side, 65536) if readable else b""
        except OSError:
            # Linux reports so that no program has the other side open.
            output = b""
        self._draw(output)
        return bool(output)

    def _draw(self, output):
        output = self.undrawn + output
        # A sequence or a character may be split between two reads: only whole frames are drawn.
        end = output.rfind(b"\x1b[?25") + 6
        whole, self.undrawn = (output[:end], output[end:]) if end > 5 else (b"", output)
        for parameters, final, control, text in TOKEN.findall(whole.decode(errors="replace")):
            if final == "H":
                row, column = [int(number or 1) for number in f"{parameters};".split(";")[:2]]
                self.row, self.column = row - 1, column - 1
            elif final == "J":
                self.rows = [[" "] * COLUMNS for _ in range(ROWS)]
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.row += 1
            for letter in text:
                if self.row < ROWS and self.column < COLUMNS:
                    self.rows[self.row][self.column] = letter
                self.column += 1
