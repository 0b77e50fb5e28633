"""What the book shows is what the commands print: every `console` block of its pages is run. `…` stands for any
text, and alone on a line for any lines."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

PROGRAMS = os.path.abspath("target/debug")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def pattern(shown):
    lines = []
    for line in shown:
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.split("…"))) + r"\n")
    return re.compile("".join(lines))


def commands(block):
    """Each command of a block, with the lines that are shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


def main():
    n = 0
    for page in sorted(pathlib.Path("src/book").glob("*.md")):
        for block in BLOCK.findall(page.read_text()):
            for command, shown in commands(block):
                n += 1
                program, *arguments = shlex.split(command)
                run = [os.path.join(PROGRAMS, program), *arguments]
                done = subprocess.run(run, capture_output=True, text=True, timeout=120)
                if done.returncode or not pattern(shown).fullmatch(done.stdout):
                    sys.exit(f"{page}: `{command}` does not print what is shown:\n{done.stdout}{done.stderr}")
    print(f"{n} commands print what the book shows")
    sys.exit(n == 0)


main()
