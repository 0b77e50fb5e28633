"""Runs the checks: see README.md."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import checks
from server import Failed, Server

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# How long a check may take, in seconds. Each single wait has a shorter limit.
LIMIT = 400

# Each check, and the options of its server.
CHECKS = {
    checks.page: [],
    checks.pipe: [],
    checks.terminal: [],
    # Bounds what a bot thinks, so that a level with thousands of playouts and the strongest level take no longer.
    checks.program: ["--search-time", "0.05", "--search-threads", "2"],
    checks.people: [],
    checks.watch: ["--search-time", "0.2"],
    checks.kill: [],
}


def options():
    names = [check.__name__ for check in CHECKS]
    parser = argparse.ArgumentParser(prog="tests/basics", description="Checks the main features from the binaries.")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"of: {', '.join(names)}; without one: all")
    parser.add_argument("--bin", metavar="DIR", help="where plyhouse and ply are; without it both are built for release")
    chosen = parser.parse_args()
    unknown = set(chosen.checks) - set(names)
    if unknown:
        parser.error(f"no such check: {', '.join(unknown)}")
    return chosen


def built():
    subprocess.run(["cargo", "build", "--release", "--locked", "--bins"], cwd=ROOT, check=True)
    return os.path.join(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")), "release")


def too_long(*_):
    raise Failed(f"it has not ended after {LIMIT} s")


def run(check, binaries):
    """Runs a check with a server of its own. Returns whether it has passed."""
    directory = tempfile.mkdtemp(prefix="plyhouse-basics-")
    server = Server(binaries, directory, CHECKS[check])
    began = time.monotonic()
    signal.alarm(LIMIT)
    try:
        server.start()
        seen = check(server)
    except Exception as failure:
        signal.alarm(0)
        print(f"FAILED {check.__name__}: {failure}", file=sys.stderr)
        if not isinstance(failure, Failed):
            traceback.print_exc()
        print("The server's log:", "".join(server.log) or "(empty)", sep="\n", file=sys.stderr)
        return False
    else:
        signal.alarm(0)
        print(f"ok {check.__name__:8} {time.monotonic() - began:5.1f} s  {seen}", flush=True)
        return True
    finally:
        server.kill()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    chosen = options()
    binaries = os.path.abspath(chosen.bin or built())
    for program in ("plyhouse", "ply"):
        if not os.access(os.path.join(binaries, program), os.X_OK):
            sys.exit(f"tests/basics: no {program} in {binaries}")
    signal.signal(signal.SIGALRM, too_long)
    began = time.monotonic()
    wanted = [check for check in CHECKS if check.__name__ in chosen.checks or not chosen.checks]
    for check in wanted:
        if not run(check, binaries):
            sys.exit(1)
    print(f"all {len(wanted)} checks passed in {time.monotonic() - began:.1f} s")


main()
