#!/usr/bin/env python3
"""The rules of check.py find what is planted and leave good sources alone."""

import pathlib
import tempfile
import unittest

import check


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.plant("include/pnmf/types.hpp", "#pragma once\n#include <vector>\n")
        self.plant("include/pnmf/graphs/graph.hpp", "#include <pnmf/types.hpp>\n#include <pnmf/linalg/sparse.hpp>\n")
        self.plant("src/linalg/kernel.hpp", "#pragma once\n")
        self.plant("src/graphs/graph.cpp", '#include "linalg/kernel.hpp"\n// std::cout would print\n')

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def assert_only_breach(self, where, what):
        found = check.breaches(self.root)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(where + ": "), found)
        self.assertIn(what, found[0])

    def test_good_sources_break_no_rule(self):
        self.assertEqual(check.breaches(self.root), [])

    def test_a_layer_must_not_include_one_above_it(self):
        self.plant("src/linalg/bad.cpp", "#include <vector>\n#include <pnmf/graphs/graph.hpp>\n")
        self.assert_only_breach("src/linalg/bad.cpp:2", "'linalg' must not include 'graphs'")

    def test_a_public_header_must_be_installed(self):
        self.plant("include/pnmf/graphs/CMakeLists.txt", "target_sources(pnmf PUBLIC FILE_SET HEADERS FILES graph.hpp)\n")
        self.assertEqual(check.breaches(self.root), [])
        self.plant("include/pnmf/graphs/subgraph.hpp", "#pragma once\n")
        self.assert_only_breach("include/pnmf/graphs/subgraph.hpp:1", "not installed")

    def test_a_private_header_counts_like_a_public_one(self):
        self.plant("src/solvers/step.hpp", "#pragma once\n")
        self.plant("src/graphs/bad.cpp", '#include "solvers/step.hpp"\n')
        self.assert_only_breach("src/graphs/bad.cpp:1", "'graphs' must not include 'solvers'")

    def test_a_relative_path_is_no_way_around(self):
        self.plant("src/solvers/step.hpp", "#pragma once\n")
        self.plant("src/graphs/bad.cpp", '#include "../solvers/step.hpp"\n')
        self.assert_only_breach("src/graphs/bad.cpp:1", "'graphs' must not include 'solvers'")

    def test_solvers_reach_backends_through_the_table_alone(self):
        self.plant("src/solvers/backend.hpp", "#pragma once\n")
        self.plant("src/devices/cpu/kernel.hpp", '#include "solvers/backend.hpp"\n')
        self.assertEqual(check.breaches(self.root), [])
        self.plant("src/solvers/bad.cpp", '#include "devices/cpu/kernel.hpp"\n')
        self.assert_only_breach("src/solvers/bad.cpp:1", "'solvers' must not include 'devices'")

    def test_metrics_io_and_simulate_need_linalg_only(self):
        for layer in ["metrics", "io", "simulate"]:
            self.plant(f"include/pnmf/{layer}/bad.hpp", "#include <pnmf/persistence/diagram.hpp>\n")
            self.assert_only_breach(f"include/pnmf/{layer}/bad.hpp:1", "must not include 'persistence'")
            self.plant(f"include/pnmf/{layer}/bad.hpp", "#include <pnmf/linalg/sparse.hpp>\n")
            self.assertEqual(check.breaches(self.root), [])

    def test_diagnostics_looks_at_everything_and_nobody_includes_it(self):
        self.plant("include/pnmf/diagnostics/CMakeLists.txt", "target_sources(pnmf_io PUBLIC FILE_SET HEADERS FILES all.hpp)\n")
        self.plant("include/pnmf/diagnostics/all.hpp", "#include <pnmf/baselines/nmf.hpp>\n#include <pnmf/io/dataset.hpp>\n")
        self.assertEqual(check.breaches(self.root), [])
        self.plant("src/baselines/bad.cpp", "#include <pnmf/diagnostics/all.hpp>\n")
        found = check.breaches(self.root)
        self.assertEqual([breach.split(": ")[0] for breach in found], ["src/baselines/bad.cpp:1"] * 2)
        self.assertIn("must not include 'diagnostics'", found[0])

    def test_diagnostics_in_the_core_know_nothing_of_results(self):
        self.plant("src/diagnostics/CMakeLists.txt", "target_sources(pnmf_core PRIVATE a.cpp)\ntarget_sources(pnmf_io PRIVATE b.cpp)\n")
        self.plant("src/diagnostics/b.cpp", "#include <pnmf/results/result_file.hpp>\n")
        self.assertEqual(check.breaches(self.root), [])
        self.plant("src/diagnostics/a.cpp", "#include <pnmf/results/result_file.hpp>\n")
        self.assert_only_breach("src/diagnostics/a.cpp:1", "pnmf_core must not include")

    def test_a_layer_is_listed_with_its_own_library(self):
        self.plant("src/graphs/CMakeLists.txt", "target_sources(\n    pnmf_io PRIVATE graph.cpp\n    other.cpp)\n")
        self.assert_only_breach("src/graphs/graph.cpp:1", "'graphs' is in pnmf_core")

    def test_the_core_reads_no_file_format(self):
        for header in ["hdf5.h", "zlib.h", "matio.h", "nlohmann/json.hpp", "H5Zpublic.h"]:
            self.plant("src/graphs/bad.cpp", f"#include <{header}>\n")
            self.assert_only_breach("src/graphs/bad.cpp:1", "pnmf_core must not need")
            self.plant("src/graphs/bad.cpp", "")
            self.plant("src/io/good.cpp", f"#include <{header}>\n")
            self.assertEqual(check.breaches(self.root), [])

    def test_code_that_reads_past_hdf5_is_reached_through_its_guard(self):
        self.plant("src/io/hdf5_guard.cpp", '#include "io/hdf5_stored.hpp"\n')
        self.assertEqual(check.breaches(self.root), [])
        self.plant("src/io/h5ad.cpp", '#include "io/hdf5_stored.hpp"\n')
        self.assert_only_breach("src/io/h5ad.cpp:1", "only hdf5_guard.cpp and hdf5_stored.cpp may include")

    def test_the_header_of_all_headers_includes_each_and_is_for_users_only(self):
        self.plant("include/pnmf/pnmf.hpp", "#include <pnmf/graphs/graph.hpp>\n#include <pnmf/types.hpp>\n")
        self.assertEqual(check.breaches(self.root), [])
        self.plant("src/graphs/bad.cpp", "#include <pnmf/pnmf.hpp>\n")
        self.assert_only_breach("src/graphs/bad.cpp:1", "for its users")
        self.plant("src/graphs/bad.cpp", "")
        self.plant("include/pnmf/graphs/more.hpp", "")
        self.assert_only_breach("include/pnmf/graphs/more.hpp:1", "does not include this header")

    def test_headers_of_the_root_stand_below_every_layer(self):
        self.plant("include/pnmf/bad.hpp", "#include <pnmf/linalg/sparse.hpp>\n")
        self.assert_only_breach("include/pnmf/bad.hpp:1", "must not include 'linalg'")

    def test_a_new_layer_needs_a_place(self):
        self.plant("src/utils/string.cpp", "\n")
        self.assert_only_breach("src/utils/string.cpp:1", "no place")

    def test_the_library_never_prints_or_exits_or_takes_a_seed_from_outside(self):
        for text in [
            "std::cout << 1;",
            "std::cerr << 1;",
            'printf("1");',
            'std::fprintf(stderr, "1");',
            'fmt::print("1");',
            "std::exit(1);",
            "std::abort();",
            "std::random_device device;",
            "auto seed = time(nullptr);",
        ]:
            self.plant("src/graphs/bad.cpp", "\n" + text + "\n")
            self.assert_only_breach("src/graphs/bad.cpp:2", "the library ")

    def test_hdf5_is_asked_whether_it_takes_a_description(self):
        for text in ['H5Tenum_insert(type, "TRUE", &yes);', "H5Pset_deflate(list, 4);", "H5Tset_size(type, 8);"]:
            self.plant("src/io/bad.cpp", "\n    " + text + "\n")
            self.assert_only_breach("src/io/bad.cpp:2", "does not look whether HDF5")
            self.plant("src/io/bad.cpp", "\n    expect_taken(" + text[:-1] + ");\n")
            self.assertEqual(check.breaches(self.root), [])

    def test_the_library_never_names_a_flag_of_the_program(self):
        self.plant("src/graphs/bad.cpp", '\nfail("leave them out with --drop-empty");\n')
        self.assert_only_breach("src/graphs/bad.cpp:2", "names a flag")
        self.plant("src/graphs/bad.cpp", '// --drop-empty of the program\nauto mark = "<!--data-->"; --count;\n')
        self.assertEqual(check.breaches(self.root), [])

    def test_a_program_may_print(self):
        self.plant("apps/pnmf/verb.cpp", 'fmt::print("1");\n#include <pnmf/diagnostics/all.hpp>\n')
        self.assertEqual(check.breaches(self.root), [])

    def test_flags_that_change_results_are_found_in_every_build_file(self):
        for name in ["CMakeLists.txt", "src/CMakeLists.txt", "cmake/Flags.cmake", "CMakePresets.json", "Makefile", "scripts/bench"]:
            self.plant(name, "\n\n-O3 -ffa" + "st-math\n")
            self.assert_only_breach(f"{name}:3", "a flag that changes results")
            (self.root / name).unlink()

    def test_paths_of_one_machine_are_found(self):
        for path in ["/ho" + "me/ada/data", "/tm" + "p/x", "/ro" + "ot/x"]:
            self.plant("src/io/bad.cpp", f'\nopen("{path}");\n')
            self.assert_only_breach("src/io/bad.cpp:2", "a path of one machine")

    def test_a_pipe_that_is_not_read_to_its_end_is_found(self):
        for reader in ["awk '$1 == \"x\" { print; exit }'", "grep -q x", "grep -Eq x"]:
            self.plant("scripts/bad", f"set -euo pipefail\nlist | {reader}\n")
            self.assert_only_breach("scripts/bad:2", "what reads a pipe must read all of it")
            self.plant("scripts/bad", f"set -eu\nlist | {reader}\n")
            self.assertEqual(check.breaches(self.root), [])

    def test_a_file_that_has_grown_too_long_is_found(self):
        self.plant("tests/io/long_test.cpp", "\n" * 450)
        self.assertEqual(check.breaches(self.root), [])
        self.plant("tests/io/long_test.cpp", "\n" * 451)
        self.assert_only_breach("tests/io/long_test.cpp:451", "at most 450")


if __name__ == "__main__":
    unittest.main()
