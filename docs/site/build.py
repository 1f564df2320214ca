# SPDX-License-Identifier: Apache-2.0
"""build.py FOLDER: builds the site into FOLDER, and fails where Sphinx has something to say.

FOLDER-pages holds what Sphinx reads. Pages of docs/ keep their place there; those outside, and the
sources that pages link to, come under tree/. In the files links lead through the project's folders,
where a forge follows them; in the site they lead through the site.
"""

import fnmatch
import posixpath
import re
import subprocess
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

ROOT = Path(__file__).resolve().parents[2]

# The site's table of contents, by paths from the project's root. Every page of docs/ is in it. A star
# stands for the pages that there are, behind a page of their own.
CONTENTS = {
    "Tutorial": [
        "docs/tutorial/first_pod.md",
        "docs/tutorial/own_profile.md",
        "docs/tutorial/own_plugin.md",
    ],
    "How-to guides": [
        "docs/installing.md",
        "docs/local_clusters.md",
        "docs/managed_clusters.md",
        "deploy/README.md",
        "docs/migrating.md",
        "docs/upgrading.md",
        "docs/operating.md",
        "docs/faq.md",
        "docs/troubleshooting.md",
        "docs/runbook.md",
        "docs/sizing.md",
        "docs/security.md",
        "docs/explain.md",
        "docs/ui.md",
        "docs/packing.md",
        "docs/plan.md",
        "docs/recording.md",
        "docs/gangs.md",
        "docs/coscheduling.md",
        "docs/numa.md",
        "docs/elastic_quotas.md",
        "docs/extenders.md",
        "docs/legacy_plugins.md",
        "docs/scheduler_plugins.md",
        "docs/weighted_spreading.md",
        "docs/writing_a_plugin.md",
        "docs/in_tree_plugins.md",
        "CONTRIBUTING.md",
        "docs/following_kubernetes.md",
        "docs/releasing.md",
    ],
    "Reference": [
        "docs/commands.md",
        "docs/configuration.md",
        "docs/fields.md",
        "docs/reasons.md",
        "docs/endpoints.md",
        "docs/metrics.md",
        ("Plugins", "plugins/*/README.md"),
        "docs/differences.md",
        "docs/cel.md",
        "docs/compatibility.md",
        "docs/works_with.md",
        "docs/read_by_others.md",
        "docs/glossary.md",
        "CHANGELOG.md",
        "SECURITY.md",
    ],
    "Explanation": [
        "docs/comparison.md",
        "docs/architecture.md",
        "docs/life_of_a_pod.md",
        "docs/engine.md",
        "docs/threading.md",
        "docs/reliability.md",
        "docs/results/reliability.md",
        "docs/performance.md",
        ("Decisions", "docs/decisions/*.md"),
    ],
}

LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
# Fenced blocks and code spans hold no links; a span may itself name a page.
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.M | re.S)
LANGUAGES = {".h": "cpp", ".hpp": "cpp", ".cc": "cpp", ".c": "c", ".go": "go", ".yaml": "yaml"}
IMAGES = {".png", ".svg"}


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {path for path in listed.splitlines() if (ROOT / path).is_file()}


def staged_path(path):
    """Where a file of the project stands in the folder that Sphinx reads."""
    staged = path.removeprefix("docs/") if path.startswith("docs/") else "tree/" + path
    return staged if Path(path).suffix in IMAGES | {".md"} else staged + ".md"


def resolve(page, target):
    """The file of the project that `target` in `page` means; a folder means its README.md."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return path + "/README.md" if (ROOT / path / "README.md").is_file() else path


def pieces(text):
    """The text in pieces, each with whether it is code."""
    return [(piece, i % 2 == 1) for i, piece in enumerate(CODE.split(text))]


def targets(page):
    for piece, is_code in pieces((ROOT / page).read_text()):
        if not is_code:
            yield from (resolve(page, target) for target, _ in LINK.findall(piece))


def wanted_files(tracked, contents):
    """The pages of the table of contents and of docs/, and all that they link to, directly or not."""
    queue = [path for paths in contents.values() for path in paths]
    queue += [path for path in tracked if path.startswith("docs/") and path.endswith(".md")]
    wanted = set()
    while queue:
        path = queue.pop()
        # A link to what does not exist stays as it is, and Sphinx complains.
        if path in wanted or path not in tracked:
            continue
        wanted.add(path)
        if path.endswith(".md"):
            queue += targets(path)
    return wanted


def page_text(path, wanted, orphan):
    """The page as Sphinx reads it."""
    def led(target):
        if target not in wanted:
            return None
        return posixpath.relpath(staged_path(target), posixpath.dirname(staged_path(path)) or ".")

    def lead(match):
        return (led(resolve(path, match[1])) or match[1]) + (match[2] or "")

    def lead_span(span):
        target = led(span[1:-1]) if re.fullmatch(r"`[\w./]+\.md`", span) else None
        return f"[{span}]({target})" if target else span

    text = (ROOT / path).read_text()
    head = "---\norphan: true\n---\n" if orphan else ""
    if not path.endswith(".md"):
        return f"{head}# {Path(path).name}\n\n`{path}`\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}````\n"
    out, before = [head], ""
    for piece, is_code in pieces(text):
        # A span that is a link's text stays as it is.
        out.append(LINK.sub(lead, piece) if not is_code else piece if before.endswith("[") else lead_span(piece))
        before = piece
    return "".join(out)


def group_page(pattern):
    """The page behind which the pages of a pattern stand."""
    return pattern.partition("*")[0] + "all.md"


def toctree(pages, options):
    """Sphinx' table of contents of the pages."""
    lines = [f":{option}" for option in options] + [""] + ["/" + staged_path(page) for page in pages]
    return "\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def write(file, content):
    """Leaves a file alone that holds the content already, so that Sphinx reads only what changed."""
    if not file.is_file() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def expand(tracked):
    """The table of contents with its stars' pages, and the pages behind which these stand."""
    contents, groups = {}, {}
    for caption, entries in CONTENTS.items():
        contents[caption] = []
        for entry in entries:
            if isinstance(entry, str):
                contents[caption].append(entry)
                continue
            title, pattern = entry
            # fnmatch's star goes through folders.
            pages = sorted(p for p in fnmatch.filter(tracked, pattern) if p.count("/") == pattern.count("/"))
            groups[pattern] = (title, pages)
            contents[caption] += pages
    return contents, groups


def stage(folder):
    """Writes what Sphinx reads into the folder, and removes what is no part of it any more."""
    tracked = tracked_files()
    contents, groups = expand(tracked)
    missing = sorted({path for paths in contents.values() for path in paths} - tracked)
    if missing:
        sys.exit(f"build.py: the table of contents names {', '.join(missing)}, which is not there")
    wanted = wanted_files(tracked, contents)
    listed = {path for paths in contents.values() for path in paths} | {"docs/index.md"}

    staged = {}
    for path in wanted:
        if Path(path).suffix in IMAGES:
            staged[staged_path(path)] = (ROOT / path).read_bytes()
            continue
        # A page of docs/ that is not listed is an error, which Sphinx reports.
        orphan = path not in listed and not (path.startswith("docs/") and path.endswith(".md"))
        staged[staged_path(path)] = page_text(path, wanted, orphan)
    for caption, entries in CONTENTS.items():
        pages = [entry if isinstance(entry, str) else group_page(entry[1]) for entry in entries]
        staged["index.md"] += toctree(pages, ["hidden:", f"caption: {caption}"])
    for pattern, (title, pages) in groups.items():
        staged[staged_path(group_page(pattern))] = f"# {title}\n" + toctree(pages, ["maxdepth: 1"])

    for path, content in staged.items():
        write(folder / path, content.encode() if isinstance(content, str) else content)
    for file in folder.rglob("*"):
        if file.is_file() and str(file.relative_to(folder)) not in staged:
            file.unlink()


def main(site):
    pages = site.with_name(site.name + "-pages")
    stage(pages)
    # Every warning is an error, and each is printed.
    return build_main(["-q", "-W", "--keep-going", "-c", str(ROOT / "docs/site"),
                       "-d", str(site.with_name(site.name + "-cache")), str(pages), str(site)])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
