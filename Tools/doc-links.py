#!/usr/bin/env python3
"""Rewrites links between the articles of a copy of the catalog as DocC wants them: doc-links.py CATALOG.

Articles link as files on a forge do: [Title](Name.md), [Heading](Name.md#heading) and
![Text](Resources/picture.svg). DocC has [Title](doc:Name#Heading) and names of pictures.
"""
import pathlib
import re
import sys


def anchor_of_forge(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def headings(text):
    """The text of headings by their anchors on a forge; not of lines in blocks."""
    found, is_in_block = {}, False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_in_block = not is_in_block
        elif not is_in_block and line.startswith("##"):
            heading = line.lstrip("#").strip()
            found[anchor_of_forge(heading)] = heading
    return found


def main(catalog):
    texts = {path: path.read_text() for path in pathlib.Path(catalog).glob("*.md")}
    known = {path.stem: headings(text) for path, text in texts.items()}

    def link(match):
        title, name, anchor = match.groups()
        if name not in known or anchor and anchor[1:] not in known[name]:
            sys.exit(f"doc-links: {match[0]} leads nowhere")
        place = "#" + known[name][anchor[1:]].replace(" ", "-") if anchor else ""
        return f"[{title}](doc:{name}{place})"

    for path, text in texts.items():
        text = re.sub(r"(?<!!)\[([^\]]+)\]\((\w+)\.md(#[^)]+)?\)", link, text)
        text = re.sub(r"(!\[[^\]]*\]\()Resources/([\w-]+)\.svg\)", r"\1\2)", text)
        path.write_text(text)


main(sys.argv[1])
