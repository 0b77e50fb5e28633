"""Runs the bot of the README, as it stands there, against the real server: alone against a bot of
the server, and two of them against each other by code."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from websockets.sync.client import connect

readme = pathlib.Path("README.md").read_text()
bot = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
lines = len(bot.splitlines())
assert lines < 40, f"the bot has {lines} lines"

server = subprocess.Popen(
    ["target/debug/plyhouse", "--listen", "127.0.0.1:0", "--data", ":memory:"],
    stderr=subprocess.PIPE,
    text=True,
)
try:
    url = "ws://" + server.stderr.readline().split()[-1] + "/ws"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(bot)
        file.flush()

        def play(code=""):
            command = [sys.executable, file.name, code, url]
            return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

        def result(process):
            out, _ = process.communicate(timeout=60)
            assert process.returncode == 0, f"the bot ended with {process.returncode}"
            return out.strip()

        alone = result(play())
        assert alone in ("won", "lost", "drawn"), alone
        with connect(url) as socket:
            create = {"type": "create", "game": "tic-tac-toe", "seats": ["open", "open"]}
            socket.send(json.dumps(create))
            while (message := json.loads(socket.recv()))["type"] != "match":
                pass
            both = sorted(map(result, [play(message["code"]), play(message["code"])]))
        assert both in (["lost", "won"], ["drawn", "drawn"]), both
    print(f"the bot of the README {alone} alone, and two of them: {both}")
finally:
    server.kill()
