# pnmf_test(<name> <sources>…): a GoogleTest program whose tests ctest lists one by one.
# Tests know where the sources, the shared data (when present) and the program are.
include(GoogleTest)

function(pnmf_test name)
    add_executable(test_${name} ${ARGN})
    target_link_libraries(test_${name} PRIVATE pnmf::pnmf pnmf_test_support GTest::gmock_main)
    pnmf_build_settings(test_${name})
    gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
endfunction()

# Debian's Python, which has Debian's NumPy and AnnData; another python3 earlier in the PATH may not.
find_program(PNMF_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
