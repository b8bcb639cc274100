# Builds and runs core_consumer against the installed package where HDF5, zlib, matio, blosc and zstd cannot be found, and looks at what
# the program loads.
# cmake -DPREFIX=… -DCONSUMER_DIR=… -DWORK_DIR=… -DCOMPILER=… -DVERSION=… -P core_alone.cmake
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")
need(PREFIX CONSUMER_DIR WORK_DIR COMPILER VERSION)

file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" -G Ninja -S "${CONSUMER_DIR}" -B "${WORK_DIR}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_DISABLE_FIND_PACKAGE_Matio=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZarrCodecs=ON)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}")
run("${WORK_DIR}/consumer")
expect("${printed}" "interrupted after sweep 1 and saved\nscales: 6\nclusters: 1 1 1 0 0 0\nversion: ${VERSION}\n" "what the consumer prints")

run(ldd "${WORK_DIR}/consumer")
if(NOT "${printed}" MATCHES "libc\\.so")
    message(FATAL_ERROR "ldd lists no library that the program loads:\n${printed}")
endif()
if("${printed}" MATCHES "lib(hdf5|matio|blosc|zstd|z)[^ ]*\\.so")
    message(FATAL_ERROR "pnmf::core alone pulls in ${CMAKE_MATCH_0}:\n${printed}")
endif()
