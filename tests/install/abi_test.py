#!/usr/bin/env python3
"""What `scripts/abi` calls broken: abi_test.py ROOT"""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
loader = importlib.machinery.SourceFileLoader("abi", str(ROOT / "scripts" / "abi"))
abi = importlib.util.module_from_spec(importlib.util.spec_from_loader("abi", loader))
loader.exec_module(abi)

OLD = """# The binary interface of pnmf 9.1.0
function _ZN4pnmf3fitEv pnmf::fit()
type pnmf::Penalty 64
type pnmf::Penalty.graph at 0: double
type pnmf::Start nested = 0
"""
SAME = {"function _ZN4pnmf3fitEv pnmf::fit()", "type pnmf::Penalty 64", "type pnmf::Penalty.graph at 0: double", "type pnmf::Start nested = 0"}

DUMP = """<abi-corpus><abi-instr>
<type-decl name='double' id='d'/><pointer-type-def type-id='d' id='p'/>
<namespace-decl name='std'><class-decl name='vector' size-in-bits='192' id='v'/></namespace-decl>
<namespace-decl name='pnmf'><class-decl name='Penalty' size-in-bits='128' id='a'>
  <data-member layout-offset-in-bits='0'><var-decl name='graph' type-id='d'/></data-member>
  <data-member layout-offset-in-bits='64'><var-decl name='others' type-id='p'/></data-member>
  <member-type><class-decl name='type' size-in-bits='8' naming-typedef-id='l' id='m'/></member-type>
</class-decl><enum-decl name='Start' id='e'><enumerator name='nested' value='0'/></enum-decl></namespace-decl>
</abi-instr></abi-corpus>"""


class BinaryInterface(unittest.TestCase):
    def test_what_is_the_same_or_new_breaks_nobody(self):
        self.assertEqual(abi.compare(OLD, SAME | {"function _ZN4pnmf3newEv pnmf::fresh()", "type pnmf::More 8"}), [])

    def test_a_function_that_is_gone_is_found(self):
        self.assertEqual(abi.compare(OLD, SAME - {"function _ZN4pnmf3fitEv pnmf::fit()"}), ["function _ZN4pnmf3fitEv pnmf::fit()"])

    def test_a_member_that_moved_and_a_type_that_grew_are_found(self):
        grown = (SAME - {"type pnmf::Penalty 64", "type pnmf::Penalty.graph at 0: double"}) | {"type pnmf::Penalty 128", "type pnmf::Penalty.graph at 64: double"}
        self.assertEqual(abi.compare(OLD, grown), ["type pnmf::Penalty 64", "type pnmf::Penalty.graph at 0: double"])

    def test_the_dump_gives_types_of_the_library_alone(self):
        self.assertEqual(abi.lines_of(xml.fromstring(DUMP)), {
            "type pnmf::Penalty 128", "type pnmf::Penalty.graph at 0: double", "type pnmf::Penalty.others at 64: double*", "type pnmf::Start nested = 0"})

    def test_functions_are_found_whatever_they_return(self):
        for text, name in (("pnmf::FitResult<double> pnmf::fit<double>(pnmf::DataView<double> const&)", "pnmf::fit"),
                           ("pnmf::Points::~Points()", "pnmf::Points::~Points"), ("std::vector<long> const& pnmf::A::of() const", "pnmf::A::of"),
                           ("pnmf::(anonymous namespace)::f()", None), ("Eigen::internal::product<pnmf::A>(int)", None)):
            self.assertEqual(abi.name_of(text), name)

    def test_functions_with_a_body_in_a_header_are_not_asked_of_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.hpp").write_text("struct A { int given() const { return 1; } void asked(int a = {}) const; };\nA other(const A& a, double (*f)(int));\n")
            self.assertEqual(abi.declared_in(pathlib.Path(folder)), {"asked", "other"})


if __name__ == "__main__":
    unittest.main()
