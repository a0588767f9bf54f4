"""Figures in a document: the lines between `<!-- NAME: begin -->` and `<!-- NAME: end -->` are a program's, the rest is written
by hand."""

import pathlib


def put_between(path, name, text):
    """Puts the text between the markers of that name; a document without them is an error, and stays as it is."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    path = pathlib.Path(path)
    head, found_begin, rest = path.read_text().partition(begin)
    _, found_end, tail = rest.partition(end)
    if not found_begin or not found_end:
        raise SystemExit(f"{path}: no place for the figures: {begin} or {end} is missing")
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}")
