"""Reads C++ as text: enough of it to say where functions, classes and namespaces begin and end. No compiler is asked."""

import functools
import re
from typing import NamedTuple


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def blank(match):
    """The same number of lines, without what stood there."""
    return "\n" * match.group(0).count("\n") or " "


@functools.cache
def code_only(text):
    """C++ without comments and without the insides of literals; line numbers stay."""
    pattern = re.compile(
        r'R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)

    def replace(match):
        found = match.group(0)
        if found.startswith(("//", "/*")):
            return blank(match)
        return '""' + "\n" * found.count("\n")

    # Digit separators (1'000) are no character literals.
    return pattern.sub(replace, re.sub(r"(?<=\d)'(?=\d)", "", text))


class Unit(NamedTuple):
    """A declaration or a definition: what stands before a `;` or a block."""
    scopes: tuple  # Of the blocks around it, from the outermost: (kind, header).
    header: str    # On one line.
    kind: str      # Of its block: namespace, class, function or other; "" where there is none.
    first: int     # Lines.
    last: int


@functools.cache
def units(text):
    """Everything declared or defined in namespaces and classes, by counting braces.

    A brace opens a function if it stands at the level of a namespace or a class, and what precedes it has parentheses and
    is neither a declaration of a type nor an initializer. Lambdas belong to what encloses them.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n?)*", blank, code_only(text), flags=re.M)
    found, stack, start = [], [], 0
    for mark in re.finditer(r"[{};]", code):
        header, char, at = code[start:mark.start()], mark.group(0), mark.start()
        outer = all(kind in ("namespace", "class") for kind, *_ in stack)
        if char == ";" and header.count("(") != header.count(")"):
            continue
        first = start + len(header) - len(header.lstrip())
        if char == "{":
            stack.append((kind_of(header) if outer else "other", " ".join(header.split()), first))
        elif char == "}" and stack:
            kind, head, began = stack.pop()
            if all(kind in ("namespace", "class") for kind, *_ in stack):
                scopes = tuple((kind, text) for kind, text, _ in stack)
                found.append(Unit(scopes, head, kind, line_of(code, began), line_of(code, at)))
        elif char == ";" and outer and header.strip():
            scopes = tuple((kind, text) for kind, text, _ in stack)
            found.append(Unit(scopes, " ".join(header.split()), "", line_of(code, first), line_of(code, at)))
        start = mark.end()
    return found


def functions(text):
    """(first line, last line, header) of every function definition."""
    return [(unit.first, unit.last, unit.header) for unit in units(text) if unit.kind == "function"]


def without_brackets(header):
    """A header without what stands in (...), <...> and [[...]]."""
    bare = re.sub(r"\[\[.*?\]\]|\b(public|private|protected)\s*:", "", header)
    while True:
        less = re.sub(r"\([^()]*\)|<[^<>()]*>", "", bare)
        if less == bare:
            return bare
        bare = less


def kind_of(header):
    flat = re.sub(r"\s+", " ", header).strip()
    if re.search(r"\bnamespace\b", flat) or flat.startswith('extern ""'):
        return "namespace"
    bare = without_brackets(flat)
    if re.search(r"\b(class|struct|union|enum)\b", bare) and "(" not in flat.split("=")[0].replace("()", ""):
        return "class"
    if "=" in re.sub(r"\boperator\s*\S+", "", bare) or "(" not in flat:
        return "other"
    return "function"


def name_declared(header):
    """The name that a header gives to something: with its class before it where that is written; None if to nothing."""
    header = re.sub(r"\[\[.*?\]\]|\b(public|private|protected)\s*:|^template\s*<", lambda found: "template<" if
                    found.group(0).startswith("template") else "", header).strip()
    type_name = re.match(r"(?:template<.*> )?(?:enum class|enum|struct|class|union) ([\w:]+)", header)
    if type_name and "(" not in header:
        return type_name.group(1)
    alias = re.match(r"(?:template<.*> )?using (\w+) =", header)
    if alias:
        return alias.group(1)
    if re.match(r"(using|friend|static_assert|typedef)\b", header):
        return None
    bare = header
    while True:
        less = re.sub(r"<[^<>()]*>|(?<=<)[^<>]*\([^()]*\)(?=[^<>]*>)", "", bare)
        if less == bare:
            break
        bare = less
    before = bare.partition("=")[0] if "operator" not in bare else bare
    call = re.search(r"((?:\w+::)*(?:~?\w+|operator ?\S{1,3}))\s*\(", before)
    if call:
        return call.group(1)
    variable = re.search(r"(\w+)(?:\[[^\]]*\])*\s*$", before)
    return variable.group(1) if variable else None
