# pnmf_test(<name> <sources>… [FIXTURES <names>…]): a GoogleTest program whose tests ctest lists one by one;
# the fixtures are ctest's, set up before.
# Tests know where the sources, the shared data (when present) and the program are.
include(GoogleTest)

# Half of a test's compile time is optimisation that it does not need: what is tested is in the library.
function(pnmf_test_settings target)
    target_compile_options(${target} PRIVATE -O1)
    # Precompiled headers are made and used with the same flags, and those of a library and a program differ here.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endfunction()

function(pnmf_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "" "FIXTURES")
    add_executable(test_${name} ${test_UNPARSED_ARGUMENTS})
    target_link_libraries(test_${name} PRIVATE pnmf::pnmf pnmf_test_support GTest::gmock_main)
    pnmf_build_settings(test_${name})
    pnmf_test_settings(test_${name})
    target_precompile_headers(test_${name} REUSE_FROM pnmf_test_support)
    pnmf_compile_units(test_${name})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES FIXTURES_REQUIRED "${test_FIXTURES}")
endfunction()

# Debian's Python, which has Debian's NumPy and AnnData; another python3 earlier in the PATH may not.
find_program(PNMF_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
