"""Every relative link of every page leads somewhere: `links.py` looks at the Markdown files of the repository,
`links.py DIR` at the built book in DIR."""
import functools
import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
NAMED = re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)


def is_elsewhere(link):
    return urllib.parse.urlsplit(link).scheme != "" or link.startswith("//")


def anchors_of_markdown(path):
    seen, anchors = {}, set()
    for heading in HEADING.findall(FENCE.sub("", path.read_text())):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        n = seen[slug] = seen.get(slug, -1) + 1
        anchors.add(f"{slug}-{n}" if n else slug)
    return anchors


def links_of_markdown(path):
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text()))
    return LINK.findall(text) + NAMED.findall(text)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, _, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.ids.add(value)


def broken(files, links_of, anchors_of):
    """What leads nowhere, and how many links were followed."""
    bad, n = [], 0
    for file in files:
        for link in links_of(file):
            if is_elsewhere(link):
                continue
            n += 1
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            path = path.partition("?")[0]
            target = (file.parent / path).resolve() if path else file.resolve()
            if not target.exists():
                bad.append(f"{file}: {link} is not there")
            elif anchor and target.suffix == file.suffix and anchor not in anchors_of(target):
                bad.append(f"{file}: {link} has no such heading")
    return bad, n


def main():
    if len(sys.argv) > 1:
        page = functools.cache(Page)
        # It serves any address that is not there, from wherever that is.
        files = [path for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.html")) if path.name != "404.html"]
        bad, n = broken(files, lambda file: page(file).links, lambda file: page(file).ids)
    else:
        tracked = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
        files = [pathlib.Path(name) for name in tracked.decode().split("\n") if name]
        bad, n = broken(files, links_of_markdown, anchors_of_markdown)
    for line in bad:
        print(line, file=sys.stderr)
    print(f"{n} links of {len(files)} pages, {len(bad)} broken")
    sys.exit(bool(bad) or n == 0)


main()
