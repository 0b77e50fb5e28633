"""Runs every command that README.md shows: those in `sh` blocks, and inline code that begins with `cargo`, `pip`, `ply`
or `python3`. Data, settings and installed programs go to a temporary directory, and a free port replaces port 7878."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.request

# Commands that earlier steps of .ci/run execute.
DONE_BEFORE = {"tests/run", "pip install websockets"}
HOME = tempfile.mkdtemp()
CLIENT = {**os.environ, "XDG_STATE_HOME": HOME, "XDG_CONFIG_HOME": HOME}
README = pathlib.Path("README.md").read_text()
MOVES = "".join(f"{square}\n" for square in [5, 1, 2, 3, 4, 6, 7, 8, 9] * 3)


def commands(text):
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield from block.splitlines()
    yield from re.findall(r"`((?:cargo|pip|python3|ply|plyhouse) [^`]*)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def start_server(words):
    """Starts a server by the words of a command. Returns the process and the address that it prints."""
    words = [word.replace(":7878", ":0") for word in words]
    environment = {**os.environ, "XDG_DATA_HOME": tempfile.mkdtemp(), "PLYHOUSE_LISTEN": "127.0.0.1:0"}
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
    for line in server.stderr:
        if found := re.match(r"listening on .*:(\d+)$", line):
            return server, "127.0.0.1:" + found[1]
    sys.exit(f"{words}: the server has not started")


def stop(server):
    # `cargo run` has replaced itself with the server.
    server.terminate()
    server.communicate()


def print_invitation(words, address):
    """Runs a command that waits for a friend, until it prints the link."""
    words = ["target/release/ply", *(word.replace("YOUR-ADDRESS:7878", address) for word in words[1:])]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=CLIENT) as process:
        found = any(f"http://{address}/m/" in line for line in process.stdout)
        process.terminate()
    assert found, words


def run(words, address):
    if words[1:] == ["--help"]:
        subprocess.run(["target/release/" + words[0], "--help"], check=True, stdout=subprocess.DEVNULL)
    elif words[:2] == ["plyhouse", "analyse"]:
        done = subprocess.run(["target/release/plyhouse", *words[1:]], check=True, capture_output=True, text=True)
        nodes = re.search(r"[0-9,]+ nodes", README)[0]
        assert nodes.split()[0].replace(",", "") in done.stdout.replace(",", ""), (words, done.stdout)
    elif words[0] == "ply":
        print_invitation(words, address)
    elif "ply" in words:
        environment = {**CLIENT, "PLYHOUSE_SERVER": address}
        done = subprocess.run(words, input=MOVES, capture_output=True, text=True, env=environment)
        over = re.search(r"\b(win|lose|draw)", done.stdout, re.IGNORECASE)
        if done.returncode or not over:
            sys.exit(f"{words} did not play a match to its end:\n{done.stdout}{done.stderr}")
    elif words[:2] == ["python3", "bot.py"]:
        program = re.search(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)[1]
        url = words[2].replace("127.0.0.1:7878", address)
        done = subprocess.run([sys.executable, "-c", program, url], capture_output=True, text=True)
        assert done.stdout in ("won\n", "not won\n"), (words, done)
    elif words[:2] == ["cargo", "install"]:
        subprocess.run([*words, "--quiet", "--root", HOME], check=True)
    elif words[:2] == ["cargo", "run"]:
        server, started = start_server(words)
        try:
            with urllib.request.urlopen(f"http://{started}/") as page:
                assert b"<html" in page.read().lower(), words
        finally:
            stop(server)
    else:
        sys.exit(f"README.md shows a command that is not run here: {words}")


def main():
    shown = list(commands(README))
    server, address = start_server(shlex.split(shown[0]))
    try:
        for command in shown:
            print(command, flush=True)
            if command not in DONE_BEFORE:
                run(shlex.split(command), address)
    finally:
        stop(server)
    for program in ["plyhouse", "ply"]:
        subprocess.run([os.path.join(HOME, "bin", program), "--version"], check=True)
    print(f"{len(shown)} commands of README.md work")


main()
