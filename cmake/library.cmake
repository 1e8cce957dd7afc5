# libtranscribe: the shared library behind include/transcribe/transcribe.h, and what an installed
# tree needs so that CMake (find_package(transcribe)) and pkg-config find it.
#
# What bites: all layers are linked into it, and only transcribe_* may be seen from outside; a
# program may have another ggml, or other classes of the same names.
include(CMakePackageConfigHelpers)

add_library(transcribe_shared SHARED $<TARGET_OBJECTS:transcribe_api>)
add_library(transcribe::transcribe ALIAS transcribe_shared)
set_target_properties(transcribe_shared PROPERTIES
    OUTPUT_NAME transcribe
    EXPORT_NAME transcribe
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE CXX)
target_include_directories(transcribe_shared INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(transcribe_shared PRIVATE
    transcribe_engine transcribe_output transcribe_hub)
if(APPLE)
    target_link_options(transcribe_shared PRIVATE "-Wl,-exported_symbol,_transcribe_*")
elseif(UNIX)
    set(exports ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(transcribe_shared PRIVATE -Wl,--version-script=${exports})
    set_target_properties(transcribe_shared PROPERTIES LINK_DEPENDS ${exports})
endif()

# For the Python package (pyproject.toml); not part of an installation.
install(FILES $<TARGET_FILE:transcribe_shared> DESTINATION transcribe/lib
        RENAME ${CMAKE_SHARED_LIBRARY_PREFIX}transcribe${CMAKE_SHARED_LIBRARY_SUFFIX}
        COMPONENT python EXCLUDE_FROM_ALL)
if(TRANSCRIBE_CPU_VARIANTS)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/transcribe DESTINATION transcribe/lib
            COMPONENT python EXCLUDE_FROM_ALL)
endif()

set(package_dir lib/cmake/transcribe)
install(TARGETS transcribe_shared EXPORT transcribe LIBRARY DESTINATION lib ARCHIVE DESTINATION lib
        RUNTIME DESTINATION bin)
install(DIRECTORY include/transcribe DESTINATION include)
install(EXPORT transcribe NAMESPACE transcribe:: FILE transcribe-config.cmake
        DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/transcribe-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/transcribe-config-version.cmake DESTINATION ${package_dir})
configure_file(cmake/transcribe.pc.in ${CMAKE_BINARY_DIR}/transcribe.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/transcribe.pc DESTINATION lib/pkgconfig)
