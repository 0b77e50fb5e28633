"""Measures the memory of connections that do nothing, beyond what the kernel takes for their sockets.

    python3 tests/bench/idle.py 15000

Needs a build of the profile `lto`, and as many file descriptors (`ulimit -n`).
"""

import socket
import subprocess
import sys
import time

SERVER = ["target/lto/plyhouse", "--listen", "127.0.0.1:0", "--data", ":memory:"]
# Nothing is to happen to them meanwhile.
IDLE = ["--ping-interval", "300", "--idle-timeout", "600"]
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
HELLO = b'{"type":"hello"}'


def connected(address):
    """A client that has been welcomed."""
    connection = socket.create_connection(address)
    connection.sendall(UPGRADE)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    # Masked, with a mask of zeros.
    connection.sendall(bytes([0x81, 0x80 | len(HELLO), 0, 0, 0, 0]) + HELLO)
    connection.recv(8192)
    return connection


def resident(process):
    """In KiB."""
    with open(f"/proc/{process.pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1])


def main():
    count = int(sys.argv[1])
    server = subprocess.Popen(SERVER + IDLE, stderr=subprocess.PIPE, text=True)
    host, port = server.stderr.readline().split()[-1].split(":")
    address = (host, int(port))
    # The first ones bring into memory what all share.
    held = [connected(address) for _ in range(200)]
    time.sleep(1)
    before = resident(server)
    held += [connected(address) for _ in range(count)]
    time.sleep(5)
    after = resident(server)
    print(f"{count} connections: {(after - before) / count:.2f} KiB each")
    server.kill()


if __name__ == "__main__":
    main()
