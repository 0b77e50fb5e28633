"""Runs every program of the book's chapter on bots, as it stands there, against the real server: each plays
whole matches against the bot `beginner`, and one that takes a code meets itself."""
import json
import pathlib
import subprocess
import sys
import threading

from websockets.sync.client import connect
from websockets.sync.server import serve

BOTS = pathlib.Path("src/book/bots")
RESULTS = ("won", "lost", "drawn")

server = subprocess.Popen(
    ["target/debug/plyhouse", "--listen", "127.0.0.1:0", "--data", ":memory:"],
    stderr=subprocess.PIPE,
    text=True,
)
url = "ws://" + server.stderr.readline().split()[-1] + "/ws"


def start(*command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def result(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0, f"{process.args} ended with {process.returncode}"
    return out.strip()


def python(name, *arguments):
    return start(sys.executable, BOTS / name, *arguments)


def ten_lines():
    lines = (BOTS / "ten.py").read_text().splitlines()
    assert len(lines) == 10, f"ten.py has {len(lines)} lines"
    shown = (BOTS / "ten.py").read_text()
    assert f"```python\n{shown}```" in pathlib.Path("README.md").read_text(), "the README shows another one"
    end = result(python("ten.py", url))
    assert end in ("won", "not won"), end
    return end


def refused():
    """A server that refuses the first request and keeps the connection: the bot prints why, and ends."""
    error = {"type": "error", "code": "overloaded", "message": "too many matches", "retryable": True}

    def refuse(socket):
        for _ in socket:
            socket.send(json.dumps(error))

    with serve(refuse, "127.0.0.1", 0) as refusing:
        threading.Thread(target=refusing.serve_forever, daemon=True).start()
        address = "ws://127.0.0.1:%d/ws" % refusing.socket.getsockname()[1]
        bot = [sys.executable, BOTS / "ten.py", address]
        ended = subprocess.run(bot, capture_output=True, text=True, timeout=60)
        refusing.shutdown()
    assert (ended.returncode, ended.stderr.strip()) == (1, error["message"]), ended
    return ended.stderr.strip()


def whole():
    lines = (BOTS / "bot.py").read_text().splitlines()
    assert len(lines) < 40, f"bot.py has {len(lines)} lines"
    alone = result(python("bot.py", "", url))
    assert alone in RESULTS, alone
    with connect(url) as socket:
        create = {"type": "create", "game": "tic-tac-toe", "seats": ["open", "open"]}
        socket.send(json.dumps(create))
        while (message := json.loads(socket.recv()))["type"] != "match":
            pass
        pair = [python("bot.py", message["code"], url) for _ in range(2)]
        both = sorted(map(result, pair))
    assert both in (["lost", "won"], ["drawn", "drawn"]), both
    return f"{alone} alone, and two of them: {both}"


def ahead():
    node = ["node", "--experimental-websocket", BOTS / "ahead.js", url]
    ends = [result(start(*node, level)) for level in ("beginner", "beginner", "easy")]
    assert all(end in RESULTS for end in ends), ends
    return ends


def engine():
    """Seated by `ply bot`, which tells how it went."""
    out = result(start(
        "target/debug/ply", "bot", "--server", url, "--create", "--game", "gomoku", "--against", "beginner",
        "--", sys.executable, BOTS / "engine.py",
    ))
    last = out.splitlines()[-1]
    assert last.split()[0] in RESULTS, out
    return last


def typed():
    ends = [result(start("target/debug/examples/bot", url, level)) for level in ("beginner", "easy")]
    # It sees more than they do, and begins.
    assert ends == ["won", "won"], ends
    return ends


try:
    for plays in (ten_lines, refused, whole, ahead, engine, typed):
        print(f"{plays.__name__}: {plays()}")
finally:
    server.kill()
