"""Creates matches and abandons them, and tells the server's memory on the way.

    python3 tests/bench/churn.py 1000000

Needs a build of the profile `lto`. Each client creates fifty matches and goes away; half a second later they are
over, and a second after that they are put away, so that what stays is what is never let go of.
"""

import socket
import subprocess
import sys
import time

from idle import HELLO, SERVER, UPGRADE, resident

HASTE = ["--abandon-after", "0.5", "--linger", "1"]
# One client does here what many do in life.
ROOM = ["--live-matches", "50", "--requests-per-second", "100000", "--burst", "100000"]
BATCH = 50
CREATE = b'{"type":"create","game":"tic-tac-toe"}'


def frame(text):
    """Masked, with a mask of zeros."""
    return bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text


def create_and_go(address):
    with socket.create_connection(address) as connection:
        connection.sendall(UPGRADE + frame(HELLO) + frame(CREATE) * BATCH)
        told = b""
        while told.count(b'"type":"match"') < BATCH:
            part = connection.recv(65536)
            if not part or b'"type":"error"' in part:
                sys.exit(f"the server refused a request or closed the connection: {part[-300:]}")
            told += part


def main():
    count = int(sys.argv[1])
    server = subprocess.Popen(SERVER + HASTE + ROOM, stderr=subprocess.PIPE, text=True)
    host, port = server.stderr.readline().split()[-1].split(":")
    try:
        for number in range(0, count, BATCH):
            if number % (count // 10) == 0:
                print(f"{number:8} matches: {resident(server) / 1024:6.1f} MiB", flush=True)
            create_and_go((host, int(port)))
        time.sleep(5)
        print(f"{count:8} matches: {resident(server) / 1024:6.1f} MiB after five seconds")
    finally:
        server.kill()


if __name__ == "__main__":
    main()
