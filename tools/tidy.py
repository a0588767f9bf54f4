#!/usr/bin/env python3
"""The house rules that a program can check; run as the test "tidy". Every message says what to do instead.

    tools/tidy.py [ROOT]          exits with 1 and one line per finding if something is amiss

What each rule is for stands in CONTRIBUTING.md.
"""

import pathlib
import re
import subprocess
import sys

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
README_LINES_MAX = 40
ARCHITECTURE_LINES_MAX = 300

# Written in pieces, so that this file passes its own rule.
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:wor" + r"k/(?:main|shared)|w/[a-z]+/|roo" + r"t/|srv/s" + r"y/)")

PURE_ROOMS = ("core", "model", "view")
# What a pure room must not name, and what to do instead.
PURE_BANNED = [
    (r"<(thread|mutex|condition_variable|atomic|future)>", "one thread owns the state; no locks here"),
    (r"<(fstream|iostream|filesystem)>", "files are the shells' business"),
    (r"\bgetenv\b", "the caller hands in what it read from the environment"),
    (r"::now\(\)|\bclock_gettime\b|\bgettimeofday\b|\btime\((nullptr|NULL|0)\)", "take `Instant now` as an argument"),
    (r"\brandom_device\b|\brand\(\)", "take a seed as an argument"),
    (r"<sys/socket\.h>|<sys/epoll\.h>|<unistd\.h>", "no system calls here; return an effect instead"),
    (r"\bfor \([^;)]*:[^)]*unordered_", "iterate a std::map or a sorted vector: hash order is not part of the input"),
    (r"\b(printf|fprintf|puts|fputs)\(", "return text as a value; nothing is printed here"),
]
HEAVY_HEADERS = re.compile(r'#include [<"](?:[^">]*\.pb\.h|openssl/[^">]*|sqlite3\.h|hwloc[^">]*\.h)[">]')
HEAVY_ALLOWED = {"src/wire/codec.hpp"}
# Arrows that must not exist even if CMake would link them.
FORBIDDEN = {("cli", "core"), ("client", "core"), ("core", "io"), ("core", "wire"), ("core", "config"),
             ("core", "store"), ("core", "os"), ("model", "io")}

# Inside a room: a folder, and the one that it must not know.
LOWER_FOLDERS = (("src/core/sched/", "core/cluster/"),)

INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.M)


class Findings:
    def __init__(self, root):
        self.root, self.lines = root, []

    def add(self, path, line, text):
        place = path.relative_to(self.root)
        self.lines.append(f"{place}:{line}: {text}" if line else f"{place}: {text}")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def blank(match):
    """The same number of lines, without what stood there."""
    return "\n" * match.group(0).count("\n") or " "


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


def functions(text):
    """(first line, last line, header) of every function definition, by counting braces.

    A brace opens a function if it stands at the level of a namespace or a class, and what precedes it has
    parentheses and is neither a declaration of a type nor an initializer. Lambdas belong to what encloses them.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\\n?)*", blank, code_only(text), flags=re.M)
    found, stack, header, start = [], [], "", 0
    for offset, char in enumerate(code):
        if char == "{":
            outer = all(kind in ("namespace", "class") for kind, *_ in stack)
            kind = kind_of(header) if outer else "other"
            stack.append((kind, line_of(code, start), header))
            header, start = "", offset + 1
        elif char == "}":
            if stack:
                kind, first, head = stack.pop()
                if kind == "function":
                    found.append((first, line_of(code, offset), " ".join(head.split())))
            header, start = "", offset + 1
        elif char == ";" and header.count("(") == header.count(")"):
            header, start = "", offset + 1
        else:
            if not header.strip() and not char.isspace():
                header, start = "", offset
            header += char
    return found


def kind_of(header):
    flat = re.sub(r"\s+", " ", header).strip()
    if re.search(r"\bnamespace\b", flat) or flat.startswith('extern ""'):
        return "namespace"
    bare = flat
    while True:
        less = re.sub(r"\([^()]*\)|<[^<>()]*>", "", bare)
        if less == bare:
            break
        bare = less
    bare = re.sub(r"\b(public|private|protected)\s*:", "", bare)
    if re.search(r"\b(class|struct|union|enum)\b", bare) and "(" not in flat.split("=")[0].replace("()", ""):
        return "class"
    if "=" in re.sub(r"\boperator\s*\S+", "", bare) or "(" not in flat:
        return "other"
    return "function"


def rooms(root):
    """Room -> the rooms it may include, from the DEPENDS lists of CMake, with what those depend on."""
    direct = {}
    for path in sorted((root / "src").glob("*/CMakeLists.txt")):
        for name, rest in re.findall(r"sy_room\((\w+)([^)]*)\)", path.read_text()):
            words = rest.split("SUBFOLDERS")[0].split()
            direct[name] = {word for word in words if word != "DEPENDS" and not word.startswith("dep_")}

    def reach(name, seen):
        for other in direct.get(name, ()):
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    return {name: reach(name, set()) for name in direct}


def check_layers(path, text, allowed, findings):
    relative = path.relative_to(findings.root)
    if relative.parts[0] != "src" or len(relative.parts) < 3:
        return
    room = relative.parts[1]
    for match in INCLUDE.finditer(text):
        other = match.group(1).split("/")[0]
        line = line_of(text, match.start())
        if "/" not in match.group(1):
            findings.add(path, line, f'include "{match.group(1)}" by its full path from src/')
        elif other != room and other in allowed and other not in allowed.get(room, set()):
            findings.add(path, line, f"room {room} may not use room {other}: see DEPENDS in src/{room}/CMakeLists.txt; "
                                     f"move what is shared down, or pass it in as a value")
        if (room, other) in FORBIDDEN:
            findings.add(path, line, f"{room} must never include {other}")
        for lower, upper in LOWER_FOLDERS:
            if str(relative).startswith(lower) and match.group(1).startswith(upper):
                findings.add(path, line, f"{lower} must never include {upper}")


def check_pure(path, text, findings):
    relative = path.relative_to(findings.root)
    if relative.parts[0] != "src" or relative.parts[1] not in PURE_ROOMS:
        return
    if path.name.endswith("_test.cpp") or "testing" in relative.parts:
        return
    code = code_only(text)
    for pattern, instead in PURE_BANNED:
        for match in re.finditer(pattern, code):
            findings.add(path, line_of(code, match.start()), f"`{match.group(0)}` in {relative.parts[1]}/: {instead}")


def check_cpp(path, text, findings):
    relative = str(path.relative_to(findings.root))
    code = code_only(text)
    lines = code.split("\n")
    for first, last, header in functions(text):
        # A switch that only maps values to values is a table, however long.
        counted = sum(not re.match(r"\s*(case .*:|return [^;]*;)\s*(return [^;]*;)?\s*$", line)
                      for line in lines[first - 1:last])
        if counted > FUNCTION_LINES_MAX:
            name = re.sub(r"\(.*", "", header).split()[-1]
            findings.add(path, first, f"{name} has {counted} lines, more than {FUNCTION_LINES_MAX}: "
                                      "keep the ifs here, move the loops into functions of their own")
    for match in re.finditer(r"\bco_await\b[^;]*[{\[][^;]*;", code):
        findings.add(path, line_of(code, match.start()),
                     "no {...} and no lambda inside co_await (g++ 12 frees them twice): name it on a line before")
    for match in re.finditer(r"^using namespace (?!std::(?:string_view_|chrono_)?literals)", code, re.M):
        if not relative.endswith("main.cpp") and not relative.startswith("bench/"):
            findings.add(path, line_of(code, match.start()), "no `using namespace` at file scope: name what you use")
    # What `operator new` owes its callers in the standard library, some of whom catch it.
    of_operator_new = " std::bad_alloc" if relative == "src/start/small_pieces.cpp" else "\\w"
    for match in re.finditer(rf"(?<!\w)throw\b(?!{of_operator_new})", code):
        findings.add(path, line_of(code, match.start()), "nothing here throws: return fail(Errc, message)")
    if relative.startswith("src/") and not relative.endswith("_test.cpp"):
        for match in re.finditer(r"#include <iostream>", text):
            findings.add(path, line_of(text, match.start()), "the streams of C++ are never made ready (src/start): use print()")
    if path.suffix == ".hpp":
        if "#pragma once" not in text:
            findings.add(path, 1, "a header begins with #pragma once")
        match = HEAVY_HEADERS.search(text)
        if match and relative not in HEAVY_ALLOWED and not relative.endswith("_fixture.hpp"):
            findings.add(path, line_of(text, match.start()), "heavy headers belong into .cpp files: forward-declare")
    check_own_header_first(path, text, findings)


def check_own_header_first(path, text, findings):
    own = path.with_suffix(".hpp")
    if path.suffix != ".cpp" or not own.exists() or findings.root / "src" not in path.parents:
        return
    name = str(own.relative_to(findings.root / "src"))
    includes = re.findall(r'^#include [<"]([^">]+)[">]', text, re.M)
    if not includes or includes[0] != name:
        findings.add(path, 1, f'include "{name}" first')


def check_text(path, text, findings):
    lines = text.count("\n") + 1
    if path.suffix in (".cpp", ".hpp", ".py", ".proto") and lines > FILE_LINES_MAX:
        findings.add(path, 0, f"{lines} lines, more than {FILE_LINES_MAX}: split it by concept")
    for match in re.finditer(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\): )", text):
        if path.name != "tidy.py" and path.suffix != ".md":
            findings.add(path, line_of(text, match.start()), "write it as `TODO(#123): what`, with an issue, or do it")
    for match in MACHINE_PATHS.finditer(text):
        findings.add(path, line_of(text, match.start()), f"`{match.group(0)}` is a path of one machine")


def check_dead_headers(files, findings):
    included = set()
    for path, text in files.items():
        if path.suffix in (".cpp", ".hpp"):
            included.update(name.split("/")[-1] for name in INCLUDE.findall(text))
    for path in files:
        if path.suffix == ".hpp" and path.name not in included:
            findings.add(path, 0, "nobody includes this header: remove it")


def check_documents(root, findings):
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        readme = folder / "README.md"
        if not readme.exists():
            findings.add(folder, 0, "has no README.md: role, main types, what it must not do")
        elif len(readme.read_text().splitlines()) > README_LINES_MAX:
            findings.add(readme, 0, f"more than {README_LINES_MAX} lines: say it shorter, or in docs/")
    for name in ("README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"):
        if not (root / name).exists():
            findings.add(root / name, 0, "is missing")
    architecture = root / "ARCHITECTURE.md"
    if architecture.exists() and len(architecture.read_text().splitlines()) > ARCHITECTURE_LINES_MAX:
        findings.add(architecture, 0, f"more than {ARCHITECTURE_LINES_MAX} lines: it is a map")


def check_commands(root, findings):
    """Every name the program answers to is installed and has a manual page."""
    install, pages = root / "cmake/Install.cmake", root / "src/cli/switchyard/man.cpp"
    names = re.findall(r'^    \{"(\w+)", \w+::', (root / "src/main.cpp").read_text(), re.M)
    for name in names:
        if not re.search(rf"\b{name}\b", install.read_text()):
            findings.add(install, 0, f"does not install the command {name}")
        if name not in ("skill", "slurmstepd") and f'{{"{name}",' not in pages.read_text():
            findings.add(pages, 0, f"has no manual page for {name}")


def check_keys(root, findings):
    """Every key of slurm.conf with an effect is documented."""
    table, document = root / "src/config/keys.cpp", root / "docs/operating.md"
    text = document.read_text()
    for match in re.finditer(r'\{"(\w+)",\s+(?!nullptr)\w', table.read_text()):
        if f"`{match.group(1)}`" not in text:
            findings.add(document, 0, f"does not mention the key {match.group(1)}")


def check_links(root, files, findings):
    """Relative links of documents lead somewhere."""
    for path, text in files.items():
        if path.suffix != ".md":
            continue
        for match in re.finditer(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text):
            if not (path.parent / match.group(1)).exists():
                findings.add(path, line_of(text, match.start()), f"link to {match.group(1)}, which is not there")


def tree_files(root):
    """Files git knows or would add, as path -> text."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"], capture_output=True,
                            text=True)
    if listed.returncode == 0:
        paths = [root / line for line in listed.stdout.splitlines()]
    else:  # An exported tree without git.
        paths = [p for p in root.rglob("*") if "build" not in p.relative_to(root).parts]
    out = {}
    for path in paths:
        if not path.is_file() or path.is_symlink() or path.name == "LICENSE":
            continue
        try:
            out[path] = path.read_text()
        except UnicodeDecodeError:
            pass
    return out


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    findings = Findings(root)
    files = tree_files(root)
    allowed = rooms(root)
    for path, text in sorted(files.items()):
        check_text(path, text, findings)
        if path.suffix in (".cpp", ".hpp"):
            check_cpp(path, text, findings)
            check_layers(path, text, allowed, findings)
            check_pure(path, text, findings)
    check_dead_headers(files, findings)
    check_documents(root, findings)
    check_commands(root, findings)
    check_keys(root, findings)
    check_links(root, files, findings)
    for line in findings.lines:
        print(line)
    print(f"{len(files)} files, {len(findings.lines)} findings")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
