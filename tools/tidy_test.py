#!/usr/bin/env python3
"""Every rule of tidy.py fires: each case plants one fault into the tree as it is read, and expects to be told."""

import functools
import pathlib
import sys
import unittest

import structure
import tidy
from cpp_text import functions

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = tidy.tree_files(ROOT)
ROOMS = tidy.rooms(ROOT)


def findings_of(check, changed):
    """What one check says of the tree with some files changed, beyond what it says without."""
    findings = tidy.Findings(ROOT)
    check(ROOT, FILES | {ROOT / path: text for path, text in changed.items()}, findings)
    return [line for line in findings.lines if line not in said_of_tree(check)]


@functools.cache
def said_of_tree(check):
    findings = tidy.Findings(ROOT)
    check(ROOT, FILES, findings)
    return findings.lines


def structure_of(files):
    """What is said of a tree of these files alone."""
    findings = tidy.Findings(ROOT)
    tidy.check_structure(ROOT, {ROOT / path: text for path, text in files.items()}, findings)
    return findings.lines


def of_one(check, path, text, *arguments):
    findings = tidy.Findings(ROOT)
    check(ROOT / path, text, *arguments, findings)
    return findings.lines


class Text(unittest.TestCase):
    def expect(self, lines, part):
        self.assertTrue(any(part in line for line in lines), f"nothing says {part!r}: {lines}")

    def test_long_files_and_functions(self):
        self.expect(of_one(tidy.check_text, "src/base/x.cpp", "int a;\n" * 900), "split it by concept")
        body = "    go();\n" * 90
        self.expect(of_one(tidy.check_cpp, "src/base/x.cpp", f"void f() {{\n{body}}}\n"), "f has 92 lines")
        cases = "        case 1: return 2;\n" * 90
        self.assertEqual(of_one(tidy.check_cpp, "src/base/x.cpp", f"int f() {{\n    switch (x) {{\n{cases}    }}\n}}\n"), [])

    def test_text_rules(self):
        self.expect(of_one(tidy.check_text, "src/base/x.cpp", "// TO" + "DO: later\n"), "with an issue")
        self.expect(of_one(tidy.check_text, "docs/x.md", "/wor" + "k/main is here"), "path of one machine")
        self.expect(of_one(tidy.check_cpp, "src/base/x.cpp", "using namespace std;\n"), "at file scope")
        self.expect(of_one(tidy.check_cpp, "src/base/x.cpp", "void f() { throw 1; }\n"), "nothing here throws")
        self.expect(of_one(tidy.check_cpp, "src/base/x.cpp", "#include <iostream>\n"), "no streams of C++")
        self.expect(of_one(tidy.check_cpp, "src/base/x.hpp", "int f();\n"), "#pragma once")
        self.expect(of_one(tidy.check_cpp, "src/base/x.hpp", '#pragma once\n#include "wire/proto/node.pb.h"\n'), "heavy headers")
        self.expect(of_one(tidy.check_cpp, "src/base/text.cpp", '#include <string>\n#include "base/text.hpp"\n'), "first")

    def test_an_algorithm_is_explained(self):
        loops = "void f() {\n" + "    for (;;) go();\n" * 12 + "}\n"
        self.expect(of_one(tidy.check_cpp, "src/base/x.cpp", loops), "begin with a paragraph")
        self.assertEqual(of_one(tidy.check_cpp, "src/base/x.cpp", "// x.cpp: goes twelve times.\n" + loops), [])

    def test_layers(self):
        self.expect(of_one(tidy.check_layers, "src/model/x.cpp", '#include "io/fd.hpp"\n', ROOMS), "model must never include io")
        self.expect(of_one(tidy.check_layers, "src/base/x.cpp", '#include "model/job.hpp"\n', ROOMS), "may not use room model")
        self.expect(of_one(tidy.check_layers, "src/base/x.cpp", '#include "text.hpp"\n', ROOMS), "by its full path")
        upward = '#include "core/cluster/cluster.hpp"\n'
        self.expect(of_one(tidy.check_layers, "src/core/sched/x.cpp", upward, ROOMS), "src/core/sched/ must never include")

    def test_pure_rooms(self):
        for text, said in [("#include <thread>\n", "one thread owns"), ("auto f() { return Clock::now(); }\n", "Instant now"),
                           ("auto f() { return getenv(x); }\n", "hands in"), ("#include <unistd.h>\n", "no system calls"),
                           ("void f() { printf(x); }\n", "nothing is printed"), ("std::random_device d;\n", "take a seed"),
                           ("#include <fstream>\n", "shells' business")]:
            self.expect(of_one(tidy.check_pure, "src/core/x.cpp", text), said)
            self.assertEqual(of_one(tidy.check_pure, "src/agent/x.cpp", text), [])


class Tree(unittest.TestCase):
    expect = Text.expect

    def test_hash_order(self):
        declared = "struct T {\n    std::unordered_map<std::string, std::vector<int>> by_name_;\n    int f();\n};\n"
        loop = "int T::f() {\n    for (const auto& [a, b] : by_name_) go(a);\n}\n"
        check = tidy.check_hash_order
        self.expect(findings_of(check, {"src/core/x.hpp": declared, "src/core/x.cpp": loop}), "hash table")
        local = "void f() {\n    std::unordered_set<int> seen;\n    for (int a : seen) go(a);\n}\n"
        self.expect(findings_of(check, {"src/model/x.cpp": local}), "hash table")
        self.expect(findings_of(check, {"sim/x.cpp": local.replace("for (int a : seen)", "*seen.begin();")}), "hash table")
        self.assertEqual(findings_of(check, {"src/agent/x.cpp": local}), [])

    def test_every_program_is_installed_documented_and_completed(self):
        names = tidy.programs(ROOT, FILES)
        self.assertGreater(len(names), 20)
        for name in ("sbatch", "sacct", "swait", "srun", "slurmctld"):
            self.assertIn(name, names)
        table = FILES[ROOT / "src/programs.hpp"].replace('{"sbatch",', '{"snew", cli::snew_main},\n    {"sbatch",', 1)
        lines = findings_of(tidy.check_commands, {"src/programs.hpp": table})
        for said in ("does not install the command snew", "no manual page for snew", "does not complete snew"):
            self.expect(lines, said)

    def test_one_version_for_the_build_and_the_changelog(self):
        self.assertEqual(findings_of(tidy.check_version, {}), [])
        self.expect(findings_of(tidy.check_version, {"CHANGELOG.md": "# Changelog\n\n## 0.0.9\n"}), "does not begin with")

    def test_every_key_is_documented(self):
        keys = FILES[ROOT / "src/config/keys.cpp"] + '\n    {"NewKeyOfOurs",  set_it},\n'
        self.expect(findings_of(tidy.check_keys, {"src/config/keys.cpp": keys}), "the key NewKeyOfOurs")

    def test_documents(self):
        self.expect(findings_of(tidy.check_documents, {"src/newroom/x.cpp": ""}), "src/newroom: has no README.md")
        self.expect(findings_of(tidy.check_documents, {"src/base/README.md": "x\n" * 41}), "more than 40 lines")
        self.expect(findings_of(tidy.check_documents, {"src/core/sched/README.md": "x\n" * 101}), "more than 100 lines")
        self.expect(findings_of(tidy.check_documents, {"ARCHITECTURE.md": "x\n" * 301}), "it is a map")
        self.expect(findings_of(tidy.check_links, {"docs/x.md": "[a](nowhere.md)"}), "which is not there")

    def test_headers_that_nobody_includes(self):
        findings = tidy.Findings(ROOT)
        tidy.check_dead_headers(FILES | {ROOT / "src/base/nobodys.hpp": "#pragma once\n"}, findings)
        self.expect(findings.lines, "nobody includes")

    def test_caps_of_classes_and_circles(self):
        many = "class Many {\n  public:\n" + "".join(f"    int f{i}(int x) const;\n" for i in range(61)) + "};\n"
        self.expect(structure_of({"src/base/x.hpp": many}), "src/base Many: 61 methods")
        circle = {"src/io/all.hpp": "#pragma once\n" + "".join(f"void f{i}();\n" for i in range(9))}
        for i in range(9):
            circle[f"src/io/f{i}.cpp"] = f'#include "io/all.hpp"\nvoid f{i}() {{ f{(i + 1) % 9}(); }}\n'
        self.expect(structure_of(circle), "src/io: 9 files that call each other")
        circle["src/io/f8.cpp"] = '#include "io/all.hpp"\nvoid f8() {}\n'
        self.assertEqual(structure_of(circle), [])

    def test_numbers_of_known_offenders_only_shrink(self):
        known = '{"methods of a class": {"src/base Many": %d}}'
        many = "class Many {\n" + "".join(f"    int f{i}();\n" for i in range(70)) + "};\n"
        lines = structure_of({"src/base/x.hpp": many, "tools/ratchet.json": known % 70})
        self.assertFalse([line for line in lines if "Many" in line])
        self.expect(structure_of({"src/base/x.hpp": many, "tools/ratchet.json": known % 69}), "more than 69")
        self.expect(structure_of({"src/base/x.hpp": many, "tools/ratchet.json": known % 71}), "--tighten")


class Reading(unittest.TestCase):
    def test_methods_are_what_can_be_called(self):
        text = ("class A {\n    A() = default;\n    explicit A(int x) : x_(x) {}\n    int f() const;\n    void g(int a) { a(); }\n"
                "    friend void h();\n    using F = void(int);\n    std::function<void(int)> call_;\n    int x_ = f();\n"
                "    struct B {\n        bool operator==(const B&) const = default;\n        int z();\n    };\n};\n")
        self.assertEqual(structure.methods(text), {"A": 3, "A::B": 1})

    def test_functions_and_their_lines(self):
        text = "namespace a {\nint f(int x) {\n    auto l = [&] { return x; };\n    return l();\n}\n}\n"
        self.assertEqual(functions(text), [(2, 5, "int f(int x)")])

    def test_a_circle_is_found_through_several_files(self):
        edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}
        self.assertEqual(structure.largest_cycle(edges), {"a", "b", "c"})


if __name__ == "__main__":
    sys.exit(not unittest.main(exit=False, verbosity=1).result.wasSuccessful())
