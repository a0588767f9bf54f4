#!/usr/bin/env python3
"""The house rules that a program can check; run as the test "tidy". Every message says what to do instead.

    tools/tidy.py [ROOT]          exits with 1 and one line per finding if something is amiss
    tools/tidy.py --tighten       writes tools/ratchet.json anew, where numbers have become smaller

What each rule is for stands in CONTRIBUTING.md; tools/tidy_test.py shows that each of them fires.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

import structure
from cpp_text import code_only, functions, line_of

FILE_LINES_MAX = 800
FUNCTION_LINES_MAX = 70
METHODS_MAX = 60  # Of one class.
CYCLE_FILES_MAX = 8  # That all call each other, in one folder.
LOOPS_MAX = 11  # In a .cpp file that says nothing of its idea.
IDEA_LINES_MIN = 3  # From here on a header's opening says more than what the file is.
README_LINES_MAX = 40
SUBFOLDER_README_LINES_MAX = 100
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


def check_hash_order(root, files, findings):
    """In pure rooms and the simulator nothing depends on the order of a hash table: it is looked up, never iterated."""
    rooms = collections.defaultdict(dict)
    for path, text in files.items():
        relative = path.relative_to(root)
        if path.suffix in (".cpp", ".hpp") and relative.parts[0] in ("src", "sim"):
            room = relative.parts[1] if relative.parts[0] == "src" else "sim"
            if room in (*PURE_ROOMS, "sim"):
                rooms[room][path] = code_only(text)
    for room in rooms.values():
        members = set()  # Their names end with _: known beyond the file that declares them.
        for code in room.values():
            members.update(name for name in hashed_names(code) if name.endswith("_"))
        for path, code in room.items():
            for name in sorted(members | hashed_names(code)):
                for match in re.finditer(rf"\bfor \([^;()]*:\s*(?:\w+(?:\.|->))*{name}\)|\b{name}\.c?begin\(", code):
                    findings.add(path, line_of(code, match.start()), f"`{name}` is a hash table: its order is not part of the "
                                                                     "input; iterate a std::map or a sorted vector")


def hashed_names(code):
    """Variables and members whose type is a hash table."""
    names = set()
    for match in re.finditer(r"\bunordered_(?:multi)?(?:map|set)<", code):
        depth, at = 1, match.end()
        while depth and at < len(code):
            depth += {"<": 1, ">": -1}.get(code[at], 0)
            at += 1
        name = re.match(r"[&\s]*(\w+)\s*[;={,)]", code[at:])
        if name:
            names.add(name.group(1))
    return names


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
    for match in re.finditer(r"^using namespace (?!std::(?:string_view_|chrono_)?literals)", code, re.M):
        if not relative.endswith("main.cpp") and not relative.startswith("bench/"):
            findings.add(path, line_of(code, match.start()), "no `using namespace` at file scope: name what you use")
    check_idea(path, text, code, findings)
    for match in re.finditer(r"(?<!\w)throw\b(?!\w)", code):
        findings.add(path, line_of(code, match.start()), "nothing here throws: return fail(Errc, message)")
    if relative.startswith("src/") and not relative.endswith("_test.cpp"):
        for match in re.finditer(r"#include <iostream>", text):
            findings.add(path, line_of(text, match.start()), "no streams of C++ in src: use print()")
    if path.suffix == ".hpp":
        if "#pragma once" not in text:
            findings.add(path, 1, "a header begins with #pragma once")
        match = HEAVY_HEADERS.search(text)
        if match and relative not in HEAVY_ALLOWED and not relative.endswith("_fixture.hpp"):
            findings.add(path, line_of(text, match.start()), "heavy headers belong into .cpp files: forward-declare")
    check_own_header_first(path, text, findings)


def check_idea(path, text, code, findings):
    """An algorithm is explained where it stands, however well its header says what it is for."""
    relative = str(path.relative_to(findings.root))
    if path.suffix != ".cpp" or path.name.endswith("_test.cpp") or not relative.startswith(("src/", "sim/")):
        return
    loops = len(re.findall(r"\b(?:for|while) \(", code))
    header = path.with_suffix(".hpp")
    said = max(opening_lines(text), opening_lines(header.read_text()) - IDEA_LINES_MIN if header.exists() else 0)
    if loops > LOOPS_MAX and said <= 0:
        findings.add(path, 1, f"{loops} loops: begin with a paragraph on how it goes about it")


def opening_lines(text):
    """How many lines of comment a file begins with, the licence's left out."""
    lines = [line for line in text.split("\n") if not line.startswith("// SPDX-")]
    return next(count for count, line in enumerate(lines) if not line.startswith("//"))


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


def check_documents(root, files, findings):
    for folder in sorted({path.parents[-len(root.parts) - 2] for path in files if (root / "src") in path.parent.parents}):
        if folder / "README.md" not in files:
            findings.add(folder, 0, "has no README.md: role, main types, what it must not do")
    for path, text in files.items():
        parts = path.relative_to(root).parts
        if path.name == "README.md" and parts[0] in ("src", "sim", "tests") and len(parts) > 2:
            cap = README_LINES_MAX if len(parts) == 3 else SUBFOLDER_README_LINES_MAX
            if len(text.splitlines()) > cap:
                findings.add(path, 0, f"more than {cap} lines: say it shorter, or in docs/")
    for name in ("README.md", "README.zh.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "NOTICE", "SECURITY.md"):
        if root / name not in files:
            findings.add(root / name, 0, "is missing")
    architecture = root / "ARCHITECTURE.md"
    if len(files.get(architecture, "").splitlines()) > ARCHITECTURE_LINES_MAX:
        findings.add(architecture, 0, f"more than {ARCHITECTURE_LINES_MAX} lines: it is a map")


def programs(root, files):
    """Every name that the program answers to, by its tables."""
    tables = files[root / "src/programs.hpp"] + files[root / "src/main.cpp"]
    return re.findall(r'\{"(\w+)",\s*\w+::\w+_main\}', tables)


def check_commands(root, files, findings):
    """Every name the program answers to is installed and has a manual page; what people type is completed."""
    install, pages = root / "cmake/Install.cmake", root / "src/cli/switchyard/man.cpp"
    completion = root / "packaging/bash-completion"
    for name in programs(root, files):
        if name != "switchyard" and not re.search(rf"\b{name}\b", files[install]):
            findings.add(install, 0, f"does not install the command {name}")
        if name not in ("skill", "slurmstepd") and f'{{"{name}",' not in files[pages]:
            findings.add(pages, 0, f"has no manual page for {name}")
        if name not in ("skill", "slurmctld", "slurmd", "slurmstepd") and not re.search(rf"\b{name}\b", files[completion]):
            findings.add(completion, 0, f"does not complete {name}")


def included_as(relative):
    return str(pathlib.Path(*relative.parts[1:]) if relative.parts[0] == "src" else relative)


def all_included(text, by_name):
    """The headers of the tree that a file reads, as one text."""
    found, waiting = {}, INCLUDE.findall(text)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found[name] = code_only(by_name[name])
            waiting += INCLUDE.findall(by_name[name])
    return "\n".join(found.values())


def check_structure(root, files, findings, tighten=False):
    """Classes and folders over a cap are known by name, and their numbers only become smaller."""
    now = {"methods of a class": {}, "files that call each other in a circle": {}}
    folders = collections.defaultdict(dict)
    by_name = {included_as(path.relative_to(root)): text for path, text in files.items() if path.suffix == ".hpp"}
    for path, text in files.items():
        relative = path.relative_to(root)
        if relative.parts[0] not in ("src", "sim") or path.name.endswith("_test.cpp"):
            continue
        if path.suffix in (".cpp", ".hpp"):
            for name, count in structure.methods(text).items():
                now["methods of a class"][f"{relative.parent} {name}"] = count
        if path.suffix == ".cpp":
            folders[relative.parent][path.name] = text
    for folder, inside in folders.items():
        seen = {name: all_included(text, by_name) for name, text in inside.items()}
        cycle = structure.largest_cycle(structure.calls_between(inside, seen))
        now["files that call each other in a circle"][str(folder)] = len(cycle)
    place = root / "tools/ratchet.json"
    known = json.loads(files.get(place, "{}"))
    caps = {"methods of a class": METHODS_MAX, "files that call each other in a circle": CYCLE_FILES_MAX}
    for what, cap in caps.items():
        allowed = known.get(what, {})
        for name, count in now[what].items():
            limit = allowed.get(name, cap)
            if count > limit:
                findings.add(root / "src", 0, f"{name}: {count} {what}, more than {limit}: "
                                              "give a part of it an owner with state of its own")
        loose = {name: limit for name, limit in allowed.items() if now[what].get(name, 0) < limit}
        if loose and not tighten:
            findings.add(place, 0, f"there are fewer {what} now ({', '.join(loose)}): tools/tidy.py --tighten")
        known[what] = {name: now[what][name] for name in sorted(allowed) if min(allowed[name], now[what].get(name, 0)) > cap}
    if tighten:
        place.write_text(json.dumps(known, indent=2) + "\n")


def check_version(root, files, findings):
    """The newest release of the changelog is the one that the build, `switchyard --version` and the package name."""
    build = re.search(r"project\(switchyard VERSION (\S+)", files[root / "CMakeLists.txt"]).group(1)
    newest = re.search(r"^## (\d\S*)", files[root / "CHANGELOG.md"], re.M)
    if newest is None or newest.group(1) != build:
        findings.add(root / "CHANGELOG.md", 0, f"does not begin with {build}, the version in CMakeLists.txt")


def check_keys(root, files, findings):
    """Every key of slurm.conf with an effect is documented."""
    document = root / "docs/operating.md"
    for match in re.finditer(r'\{"(\w+)",\s+(?!nullptr)\w', files[root / "src/config/keys.cpp"]):
        if f"`{match.group(1)}`" not in files[document]:
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
    arguments = [argument for argument in sys.argv[1:] if argument != "--tighten"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
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
    check_hash_order(root, files, findings)
    check_structure(root, files, findings, tighten="--tighten" in sys.argv)
    check_documents(root, files, findings)
    check_commands(root, files, findings)
    check_keys(root, files, findings)
    check_version(root, files, findings)
    check_links(root, files, findings)
    for line in findings.lines:
        print(line)
    print(f"{len(files)} files, {len(findings.lines)} findings")
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main())
