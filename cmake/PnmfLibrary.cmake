# pnmf_library(<name>): the library target pnmf_<name>, known as pnmf::<name> here and where it is installed.
# The folders under include/pnmf and src add their files to it.
function(pnmf_library name)
    add_library(pnmf_${name})
    add_library(pnmf::${name} ALIAS pnmf_${name})
    target_include_directories(pnmf_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_sources(pnmf_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include")
    target_compile_features(pnmf_${name} PUBLIC cxx_std_20)
    pnmf_build_settings(pnmf_${name})
    # No symbol says that the library is shared: objects of both kinds are the same, and a compiler cache serves both.
    set_target_properties(pnmf_${name} PROPERTIES EXPORT_NAME ${name} DEFINE_SYMBOL "")
endfunction()

# pnmf_link_ready(<target> <folder>): the static library that another build has made takes the place of the target's own
# sources. Compiling the numbers takes most of the time of a build with sanitisers that are meant for files.
function(pnmf_link_ready target folder)
    get_target_property(sources ${target} SOURCES)
    get_target_property(directory ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
        if(source MATCHES "\\.cpp$")
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}")
            set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY HEADER_FILE_ONLY ON)
        endif()
    endforeach()
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PUBLIC "$<BUILD_INTERFACE:${folder}/lib${target}.a>")
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF LINKER_LANGUAGE CXX)
endfunction()
