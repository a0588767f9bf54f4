"""Measures of the shape of the code: methods of a class, and files of a folder that call each other in a circle."""

import collections
import re
from typing import NamedTuple

from cpp_text import code_only, name_declared, units

# Members of the standard containers and of everything: a call of one says nothing about whose it is.
COMMON = {"add", "at", "back", "begin", "c_str", "clear", "contains", "count", "data", "emplace", "emplace_back", "empty", "end",
          "erase", "error", "extract", "find", "front", "get", "has_value", "insert", "insert_or_assign", "length",
          "lower_bound", "merge", "ok", "pop_back", "push_back", "reserve", "reset", "resize", "size", "str", "substr", "swap",
          "test", "try_emplace", "upper_bound", "value", "value_or"}


def is_method(unit):
    """A declaration in a class that somebody can call, but for those that the compiler writes."""
    if unit.kind not in ("function", "") or re.search(r"=\s*(default|delete)$", unit.header):
        return False
    header = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", unit.header))
    before, paren, _ = header.partition("(")
    return bool(paren) and "=" not in before and name_declared(unit.header) is not None and \
        re.search(r"(\w|operator\s*\S+)\s*$", before) is not None


def methods(text):
    """Class, by its name in full -> how many methods its body declares."""
    found = collections.Counter()
    for unit in units(text):
        if unit.scopes and unit.scopes[-1][0] == "class" and is_method(unit):
            names = [name_declared(header) or "?" for kind, header in unit.scopes if kind == "class"]
            found["::".join(names)] += 1
    return found


def is_own(unit):
    """Whether it stands in a nameless namespace of its file."""
    return any(kind == "namespace" and header.endswith("namespace") for kind, header in unit.scopes)


class Definition(NamedTuple):
    file: str
    owner: str  # The class whose method it is, or "".
    name: str


def definitions(file, text):
    found = set()
    for unit in units(text):
        name = name_declared(unit.header) if unit.kind == "function" and not is_own(unit) else None
        if name:
            *owner, last = name.split("::")
            found.add(Definition(file, owner[-1] if owner else "", last))
    return found


def calls_between(files, seen):
    """File -> files of the same folder that it calls. `files`: name -> text; `seen`: name -> text of all that it includes.

    A call says no more than a name: it means the one file of the folder that defines this name for a class or a function
    that the caller's headers declare. A method called without an object is one of a class that the caller defines too.
    """
    defined = {file: definitions(file, text) for file, text in files.items()}
    homes = collections.defaultdict(list)
    for each in defined.values():
        for one in each:
            homes[one.name].append(one)
    edges = {}
    for file, text in files.items():
        local = {(name_declared(unit.header) or "").split("::")[-1] for unit in units(text) if unit.kind == "function"}
        owners = {one.owner for one in defined[file]}
        calls = set(re.findall(r"(\.|->|::)?(?<!\w)([a-zA-Z_]\w*)\(", code_only(text)))
        edges[file] = set()
        for how, name in calls:
            if name in COMMON or (name in local and not how):
                continue
            meant = [one for one in homes[name] if one.file != file and is_meant(one, how, owners, seen[file])]
            if len({one.file for one in meant}) == 1:
                edges[file].add(meant[0].file)
    return edges


def is_meant(one, how, owners, seen):
    if how in (".", "->") and not one.owner or not how and one.owner not in owners | {""}:
        return False
    declared = rf"\b(?:class|struct) (?:\w+::)*{one.owner}\b" if one.owner else rf"\b{one.name}\("
    return re.search(declared, seen) is not None


def largest_cycle(edges):
    """The most files that all reach each other (the largest strongly connected component)."""
    reach = {}
    for start in edges:
        seen, waiting = set(), [start]
        while waiting:
            for other in edges[waiting.pop()]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        reach[start] = seen
    groups = ({file} | {other for other in reach[file] if file in reach[other]} for file in edges)
    return max(groups, key=len, default=set())
