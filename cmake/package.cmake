# Archives and a Debian package of the installed tree: cpack in a build folder of the preset
# `package`, whose CPU kernels are chosen at run time. Shared libraries of the system become
# dependencies of the package; those in lib/transcribe are its own.
set(CPACK_GENERATOR TGZ)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
    list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_NAME transcribe)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Speech to text on your own machine")
set(CPACK_PACKAGE_VENDOR "the transcribe authors")
set(CPACK_PACKAGE_CONTACT "the transcribe authors <transcribe@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib/transcribe)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates")  # models are fetched over TLS
# For --live; it brings most of a desktop with it, which apt would install where it is recommended.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libavdevice59 | libavdevice60 | libavdevice61")
include(CPack)
