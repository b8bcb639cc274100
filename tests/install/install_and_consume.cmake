# Installs a build under a fresh prefix, moves the prefix, then configures, builds and runs the consumer against it.
# cmake -DBUILD_DIR=… -DCONSUMER_DIR=… -DWORK_DIR=… -DCOMPILER=… -DVERSION=… -P install_and_consume.cmake
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
need(BUILD_DIR CONSUMER_DIR WORK_DIR COMPILER VERSION)

file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/first")
file(RENAME "${WORK_DIR}/first" "${WORK_DIR}/prefix") # an installed package must not know where it was installed

run("${WORK_DIR}/prefix/bin/pnmf" --version)
string(REGEX REPLACE "\n.*" "\n" printed "${printed}") # the second line names the library of the matrix products
expect("${printed}" "pnmf ${VERSION}\n" "the installed program's version")

run("${CMAKE_COMMAND}" -G Ninja -S "${CONSUMER_DIR}" -B "${WORK_DIR}/consumer" "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/consumer")
run("${WORK_DIR}/consumer/consumer")
file(READ "${CONSUMER_DIR}/expected.txt" expected)
expect("${printed}" "${expected}" "what the consumer prints")
