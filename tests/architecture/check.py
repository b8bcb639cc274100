#!/usr/bin/env python3
"""Checks the rules of the source tree that no compiler checks; prints each breach, exits 1 if there is one.

    check.py ROOT

Layers include only what stands below them, and each is in one of the three libraries; the library neither prints nor
exits nor takes a seed from outside, and names no flag of the program; nothing is
built with flags that change results; no path of one machine; no pipe that ends its writer; no file that has grown too long.
"""

import pathlib
import re
import sys

# What each layer may include, besides itself and the headers directly in include/pnmf.
CHAIN = ["linalg", "persistence", "scales", "graphs", "model", "solvers", "baselines"]
MAY_INCLUDE = {layer: set(CHAIN[:i]) for i, layer in enumerate(CHAIN)}
MAY_INCLUDE["metrics"] = {"linalg"}
MAY_INCLUDE["assess"] = {"linalg", "persistence", "graphs", "metrics"}
MAY_INCLUDE["solvers"] |= {"metrics"}  # a row of the table of devices has its k-means
MAY_INCLUDE["baselines"] |= {"metrics", "assess"}  # restarts are compared by their programs
MAY_INCLUDE["io"] = {"linalg"}
MAY_INCLUDE["simulate"] = {"linalg"}
# Solvers reach a device through its row of the table (solvers/device.hpp), so nothing includes this layer.
MAY_INCLUDE["devices"] = {"linalg", "persistence", "graphs", "model", "solvers", "metrics"}
MAY_INCLUDE["run"] = set(CHAIN) | {"metrics", "assess"}
MAY_INCLUDE["results"] = set(CHAIN) | {"run", "io", "metrics", "assess"}
MAY_INCLUDE["analysis"] = MAY_INCLUDE["results"] | {"results"}
MAY_INCLUDE["report"] = MAY_INCLUDE["results"] | {"results"}
MAY_INCLUDE["diagnostics"] = set(MAY_INCLUDE) - {"devices"}
MAY_INCLUDE["mpi"] = set()
for below in MAY_INCLUDE.values():
    below |= {"cells", "files"}
MAY_INCLUDE["cells"] = set()
MAY_INCLUDE["files"] = set()
MAY_INCLUDE["root"] = set()
# What is over all cells, and how several processes do it: these folders have parts of many layers.
OVER_CELLS = {"cells", "ranks"}

# The libraries, each linked with those before it, and the layers that are not in the first. Files of `diagnostics` are in the
# library that their CMakeLists.txt names: some look at numbers, some at stored results.
LIBRARIES = ["core", "io", "report"]
LIBRARY_OF_LAYER = {"io": "io", "results": "io", "analysis": "io", "report": "report", "diagnostics": None}
ALL_HEADERS = "pnmf.hpp"
CORE_NEVER_INCLUDES = r"hdf5|H5|zlib|matio|blosc|zstd|nlohmann/"

# Headers for one source alone: whoever includes one goes past the file that decides when to use it.
INCLUDED_ONLY_BY = {"io/hdf5_stored.hpp": {"hdf5_guard.cpp", "hdf5_stored.cpp"}}

LONGEST_FILE = 450

LIBRARY_NEVER = [
    (r"std::c(out|err|log)\b", "prints"),
    (r"\b(printf|puts|putchar|perror|fprintf|vprintf)\s*\(", "prints"),
    (r"\bfmt::print\b", "prints"),
    (r"\b(exit|_Exit|quick_exit|abort|terminate)\s*\(", "ends the program"),
    (r"\b(system_clock|random_device)\b|\btime\s*\(\s*(NULL|nullptr|0)\s*\)", "takes a seed from outside"),
    # Something else would be written then. The name of an opaque type is nothing that is written.
    (r"^\s*H5(Pset_|Tset_(?!tag)|Tenum_insert)\w*\(", "does not look whether HDF5 takes a description"),
]
PROGRAM_FLAG = r"(?<![-!\w])--[a-z]"  # Python users have none: see Remedy
RESULT_CHANGING_FLAGS = r"-ffast-math|-Ofast|-march=native|-mtune=native|-funsafe-math-optimizations"
# A reader that stops early ends whoever writes into the pipe, now and then: with pipefail the script fails.
STOPS_EARLY = r"\|\s*(awk\s+'[^']*\bexit\b|grep\s+(-\w*q|--quiet))"
MACHINE_PATHS = r"[\"'(\s=]/(home|root|tmp|work|Users|mnt)/"

SOURCE = {".hpp", ".cpp", ".h", ".cu", ".py", ".js", ".ts", ".cmake", ".sh"}
FOLDERS = ["include", "src", "apps", "tests", "benchmarks", "examples", "python", "cmake", "scripts", "experiments", "web"]


def files_of(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not {"node_modules", "__pycache__"} & set(path.parts):
                yield path


def without_comments(text):
    """The text with comments blanked, line numbers kept; strings stay."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
    blank = lambda match: match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])
    return re.sub(pattern, blank, text, flags=re.DOTALL)


def layer_of(path):
    """The layer of a file given relative to include/pnmf or src. In `cells` and `ranks` a folder says to which it belongs."""
    folders = path.parts[:-1]
    if len(folders) > 1 and folders[0] in OVER_CELLS:
        return folders[1]
    return "cells" if folders and folders[0] in OVER_CELLS else folders[0] if folders else "root"


def layer_included(root, including, quoted, target):
    """The layer an #include reaches into, None for headers from outside the project."""
    if target.startswith("pnmf/"):
        return layer_of(pathlib.Path(target).relative_to("pnmf"))
    if not quoted:
        return None
    for base in [including.parent, root / "src", root / "include" / "pnmf"]:
        found = (base / target).resolve()
        for top in [root / "src", root / "include" / "pnmf"]:
            if found.is_file() and found.is_relative_to(top.resolve()):
                return layer_of(found.relative_to(top.resolve()))
    return None


def library_of(path, layer):
    """The library a file is in: that of its layer or, where a layer has several, the one its CMakeLists.txt names."""
    library = LIBRARY_OF_LAYER.get(layer, "core")
    return library or library_listed(path) or "core"


def library_listed(path):
    """The library whose list of sources in the folder's CMakeLists.txt names this file, None when no list does."""
    listing = path.parent / "CMakeLists.txt"
    for block in re.finditer(r"target_sources\(\s*pnmf_(\w+)([^)]*)\)", listing.read_text() if listing.exists() else ""):
        if path.name in block[2].split():
            return block[1]
    return None


def included(path):
    """Every #include of a file: the line's number, whether it is quoted, what it names."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[1] == '"', match[2]


def check_includes(root):
    for top in [root / "include" / "pnmf", root / "src"]:
        for path in files_of(root, [top.relative_to(root)]):
            if path.suffix not in {".hpp", ".cpp", ".h", ".cu"} or path == top / ALL_HEADERS:
                continue
            layer = layer_of(path.relative_to(top))
            if layer not in MAY_INCLUDE:
                yield path, 1, f"the layer '{layer}' has no place in the order of layers: give it one in {pathlib.Path(__file__).name}"
                continue
            for number, quoted, target in included(path):
                reached = layer_included(root, path, quoted, target)
                if reached not in {None, layer, "root"} | MAY_INCLUDE[layer]:
                    yield path, number, f"the layer '{layer}' must not include '{reached}'"
                if path.name not in INCLUDED_ONLY_BY.get(target, {path.name}):
                    yield path, number, f"only {' and '.join(sorted(INCLUDED_ONLY_BY[target]))} may include {target}"
                if target == f"pnmf/{ALL_HEADERS}":
                    yield path, number, f"the library must not include {target}, which is for its users"


def check_libraries(root):
    """A file is listed with its layer's library and includes nothing of a later one; the core knows no file format."""
    for top in [root / "include" / "pnmf", root / "src"]:
        for path in files_of(root, [top.relative_to(root)]):
            if path.suffix not in {".hpp", ".cpp", ".h", ".cu"} or path == top / ALL_HEADERS:
                continue
            layer = layer_of(path.relative_to(top))
            library = library_of(path, layer)
            if library_listed(path) not in {None, library}:
                yield path, 1, f"is listed with pnmf_{library_listed(path)}, but the layer '{layer}' is in pnmf_{library}"
            for number, quoted, target in included(path):
                if library == "core" and re.match(CORE_NEVER_INCLUDES, target):
                    yield path, number, f"pnmf_core must not need {target}"
                reached = layer_included(root, path, quoted, target)
                if reached in MAY_INCLUDE:
                    header = root / "include" / target
                    other = library_of(header, reached)
                    if LIBRARIES.index(other) > LIBRARIES.index(library):
                        yield path, number, f"pnmf_{library} must not include {target}, which is in pnmf_{other}"


def check_headers(root):
    """A public header that its folder's CMakeLists.txt does not name is not installed."""
    for path in files_of(root, ["include"]):
        listing = path.parent / "CMakeLists.txt"
        if path.suffix == ".hpp" and listing.exists() and not re.search(rf"(^|[\s/]){re.escape(path.name)}\b", listing.read_text()):
            yield path, 1, f"{listing.relative_to(root)} does not name this header, so it is not installed"
    every = root / "include" / "pnmf" / ALL_HEADERS
    if every.exists():
        named = {target for _, _, target in included(every)}
        for path in files_of(root, ["include"]):
            if path.suffix == ".hpp" and path != every and str(path.relative_to(root / "include")) not in named:
                yield path, 1, f"{every.relative_to(root)} does not include this header"


def check_library(root):
    for path in files_of(root, ["include", "src"]):
        for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
            for pattern, what in LIBRARY_NEVER:
                if re.search(pattern, line):
                    yield path, number, f"the library {what}: {line.strip()}"
            if any(re.search(PROGRAM_FLAG, literal) for literal in re.findall(r'"(?:\\.|[^"\\])*"', line)):
                yield path, number, f"the library names a flag of the program: {line.strip()}"


def check_flags(root):
    build_files = [p for p in files_of(root, FOLDERS) if p.suffix in {".cmake", ".sh"} or p.name == "CMakeLists.txt"]
    build_files += [p for p in files_of(root, ["scripts"])]
    build_files += [root / name for name in ["CMakeLists.txt", "CMakePresets.json", "Makefile"] if (root / name).exists()]
    for path in build_files:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(RESULT_CHANGING_FLAGS, line):
                yield path, number, f"a flag that changes results or ties the program to one machine: {line.strip()}"


def check_paths(root):
    for path in files_of(root, ["include", "src", "apps", "cmake", "scripts", "python", "examples"]):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if re.search(MACHINE_PATHS, " " + line):
                yield path, number, f"a path of one machine: {line.strip()}"


def check_pipes(root):
    for path in files_of(root, ["scripts"]):
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if "pipefail" in text and re.search(STOPS_EARLY, line):
                yield path, number, f"what reads a pipe must read all of it: {line.strip()}"


def check_lengths(root):
    for path in files_of(root, FOLDERS):
        if path.suffix in SOURCE or path.name == "CMakeLists.txt":
            lines = len(path.read_text(errors="replace").splitlines())
            if lines > LONGEST_FILE:
                yield path, lines, f"{lines} lines, at most {LONGEST_FILE}: it holds more than one thing"


def breaches(root):
    """Every breach as 'file:line: what', paths relative to the root."""
    root = pathlib.Path(root).resolve()
    if not (root / "include" / "pnmf").is_dir():
        raise SystemExit(f"{root} holds no include/pnmf")
    result = []
    for check in [check_includes, check_libraries, check_headers, check_library, check_flags, check_paths, check_pipes, check_lengths]:
        result += [f"{path.relative_to(root)}:{line}: {what}" for path, line, what in check(root)]
    return result


if __name__ == "__main__":
    found = breaches(sys.argv[1])
    print("\n".join(found) if found else "no rule is broken")
    sys.exit(1 if found else 0)
