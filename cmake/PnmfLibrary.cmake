# pnmf_library(<name>): the library target pnmf_<name>, known as pnmf::<name> here and where it is installed.
# The folders under include/pnmf and src add their files to it.
function(pnmf_library name)
    add_library(pnmf_${name})
    add_library(pnmf::${name} ALIAS pnmf_${name})
    target_include_directories(pnmf_${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    target_sources(pnmf_${name} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include")
    target_compile_features(pnmf_${name} PUBLIC cxx_std_20)
    pnmf_build_settings(pnmf_${name})
    set_target_properties(pnmf_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()
