# Gives the target ggml::ggml, from the first place that has it (TRANSCRIBE_GGML chooses one):
#   system  an installed ggml, 0.20 or newer (set ggml_ROOT where it is not in a usual place)
#   pypi    the ggml source inside a Python source package, fetched by pip by its name
#   git     a tag of the public repository
#
# What bites: ggml built here takes our compile flags, so it is sanitized when we are; an installed
# one is not, and `auto` then passes it by. ggml's other options (GGML_CUDA, GGML_METAL ...) go
# through untouched.
set(TRANSCRIBE_GGML_TAG "v0.20.2" CACHE STRING "the tag that TRANSCRIBE_GGML=git takes")
set(ggml_package libggml-python)
set(ggml_package_version 0.20.2.post1)
set(ggml_package_sha256 e47ff53506342959ffb3ce15380b82828fea10ec5f208f9ef6915895f1a7a176)

# The cache that all build folders of this user share, so that the second one needs no network.
function(transcribe_shared_cache out)
    set(cache "${CMAKE_BINARY_DIR}")  # where nothing says whose cache it would be
    if(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
        set(cache "$ENV{XDG_CACHE_HOME}")
    elseif(NOT "$ENV{HOME}" STREQUAL "")
        set(cache "$ENV{HOME}/.cache")
    endif()
    set(${out} "${cache}/transcribe/deps" PARENT_SCOPE)
endfunction()

# FALSE also when the file is missing.
function(transcribe_sha256_is out file wanted)
    set(${out} FALSE PARENT_SCOPE)
    if(EXISTS "${file}")
        file(SHA256 "${file}" got)
        if(got STREQUAL wanted)
            set(${out} TRUE PARENT_SCOPE)
        endif()
    endif()
endfunction()

# Puts the source package at `tarball`; `out` is the reason why it could not, or empty.
function(transcribe_ggml_download tarball out)
    get_filename_component(folder "${tarball}" DIRECTORY)
    get_filename_component(name "${tarball}" NAME)
    transcribe_shared_cache(shared)
    transcribe_sha256_is(shared_is_good "${shared}/${name}" ${ggml_package_sha256})
    if(shared_is_good)
        file(COPY "${shared}/${name}" DESTINATION "${folder}")
        set(${out} "" PARENT_SCOPE)
        return()
    endif()

    find_package(Python3 QUIET COMPONENTS Interpreter)
    if(NOT Python3_FOUND)
        set(${out} "python3 is not installed" PARENT_SCOPE)
        return()
    endif()
    message(STATUS "ggml: pip downloads ${ggml_package} ${ggml_package_version}")
    # Only this package comes as source; pip wants its build tools as well, and those as wheels.
    execute_process(
        COMMAND "${Python3_EXECUTABLE}" -m pip download --quiet --no-input --no-deps
                --no-binary ${ggml_package} --dest "${folder}"
                ${ggml_package}==${ggml_package_version}
        RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT status EQUAL 0)
        string(STRIP "${output}" output)
        set(${out} "pip download failed: ${output}" PARENT_SCOPE)
        return()
    endif()
    transcribe_sha256_is(is_good "${tarball}" ${ggml_package_sha256})
    if(NOT is_good)
        file(REMOVE "${tarball}")
        set(${out} "${name} is missing or has another sha256 than the pinned one" PARENT_SCOPE)
        return()
    endif()
    # Only a saving for the next build folder: where the cache cannot be written, nothing is lost.
    # Copied beside and renamed, since another configure may be reading it.
    execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${shared}" ERROR_QUIET)
    file(COPY_FILE "${tarball}" "${shared}/${name}.new" RESULT ignored)
    file(RENAME "${shared}/${name}.new" "${shared}/${name}" RESULT ignored)
    set(${out} "" PARENT_SCOPE)
endfunction()

# `source` is the folder with ggml's CMakeLists.txt, or `out` the reason why there is none.
function(transcribe_ggml_pypi source out)
    set(deps "${CMAKE_BINARY_DIR}/_deps")
    set(root "libggml_python-${ggml_package_version}")
    set(tarball "${deps}/${root}.tar.gz")
    set(${source} "${deps}/${root}/ggml" PARENT_SCOPE)
    set(${out} "" PARENT_SCOPE)
    if(EXISTS "${deps}/${root}/unpacked")
        return()
    endif()
    file(MAKE_DIRECTORY "${deps}")
    transcribe_sha256_is(is_good "${tarball}" ${ggml_package_sha256})
    if(NOT is_good)
        transcribe_ggml_download("${tarball}" reason)
        if(reason)
            set(${out} "${reason}" PARENT_SCOPE)
            return()
        endif()
    endif()
    file(ARCHIVE_EXTRACT INPUT "${tarball}" DESTINATION "${deps}" PATTERNS "${root}/ggml/*")
    file(TOUCH "${deps}/${root}/unpacked")
endfunction()

function(transcribe_ggml_git source)
    include(FetchContent)
    FetchContent_Declare(ggml_git
        GIT_REPOSITORY https://github.com/ggml-org/ggml
        GIT_TAG ${TRANSCRIBE_GGML_TAG}
        GIT_SHALLOW TRUE
        SOURCE_SUBDIR none)  # only fetched here; transcribe_ggml_build adds it
    FetchContent_MakeAvailable(ggml_git)
    set(${source} "${ggml_git_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

# Static and tuned for this processor; or, for a package, shared with one loadable library for each
# kind of processor (ggml allows run-time choice only that way). Those lie in lib/transcribe, in the
# build folder as in the installed tree, and find each other by relative paths, so that a tree can
# move; src/tensor/backend_dir.h finds them.
function(transcribe_ggml_build source)
    set(GGML_OPENMP OFF CACHE BOOL "threads are ours" FORCE)
    set(GGML_NATIVE ${TRANSCRIBE_NATIVE} CACHE BOOL "as TRANSCRIBE_NATIVE says" FORCE)
    set(GGML_BACKEND_DL ${TRANSCRIBE_CPU_VARIANTS} CACHE BOOL "" FORCE)
    set(GGML_CPU_ALL_VARIANTS ${TRANSCRIBE_CPU_VARIANTS} CACHE BOOL "" FORCE)
    set(BUILD_SHARED_LIBS ${TRANSCRIBE_CPU_VARIANTS})
    if(TRANSCRIBE_CPU_VARIANTS)
        set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/transcribe")
        set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/transcribe")
        set(CMAKE_INSTALL_RPATH "${TRANSCRIBE_ORIGIN}")
        set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
    endif()
    set(GGML_LLAMAFILE_DEFAULT ON)  # its matrix kernels: F16 products several times faster
    set(GGML_ALL_WARNINGS OFF)
    set(GGML_CCACHE OFF)         # the launchers of the top folder serve ggml as well
    set(GIT_EXE "" CACHE FILEPATH "ggml would take our commit for its own and rebuild" FORCE)
    set(GGML_BUILD_TESTS OFF)
    set(GGML_BUILD_EXAMPLES OFF)
    add_subdirectory("${source}" "${CMAKE_BINARY_DIR}/_deps/ggml-build"
                     EXCLUDE_FROM_ALL SYSTEM)
endfunction()

# A macro, since find_package and TRANSCRIBE_GGML_FROM speak to the caller's scope.
macro(transcribe_find_ggml)
    if(NOT TRANSCRIBE_GGML MATCHES "^(auto|system|pypi|git)$")
        message(FATAL_ERROR "TRANSCRIBE_GGML is '${TRANSCRIBE_GGML}': auto, system, pypi or git")
    endif()
    set(TRANSCRIBE_GGML_FROM "")
    if(TRANSCRIBE_GGML STREQUAL "system")
        find_package(ggml 0.20 REQUIRED)
        set(TRANSCRIBE_GGML_FROM "system")
    elseif(TRANSCRIBE_GGML STREQUAL "auto" AND NOT TRANSCRIBE_SANITIZE
           AND NOT TRANSCRIBE_CPU_VARIANTS)
        find_package(ggml 0.20 QUIET)
        if(ggml_FOUND)
            set(TRANSCRIBE_GGML_FROM "system")
        endif()
    endif()

    if(NOT TRANSCRIBE_GGML_FROM AND TRANSCRIBE_GGML MATCHES "auto|pypi")
        transcribe_ggml_pypi(ggml_source ggml_reason)
        if(NOT ggml_reason)
            set(TRANSCRIBE_GGML_FROM "pypi")
        elseif(TRANSCRIBE_GGML STREQUAL "pypi")
            message(FATAL_ERROR "ggml cannot be had from PyPI: ${ggml_reason}")
        else()
            message(STATUS "ggml: not from PyPI (${ggml_reason}); the git repository is next")
        endif()
    endif()
    if(NOT TRANSCRIBE_GGML_FROM)
        transcribe_ggml_git(ggml_source)
        set(TRANSCRIBE_GGML_FROM "git")
    endif()
    if(NOT TRANSCRIBE_GGML_FROM STREQUAL "system")
        transcribe_ggml_build("${ggml_source}")
    endif()
    message(STATUS "ggml: from ${TRANSCRIBE_GGML_FROM}")
endmacro()

transcribe_find_ggml()
