# SPDX-License-Identifier: Apache-2.0
# A Debian package of what `cmake --install` installs: tools/build_deb.sh, or `cpack` in a build folder. What the program needs of other packages is
# read from its shared libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The authors of Parhelion <parhelion@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-numpy, gromacs-data")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${PROJECT_DESCRIPTION}\nSimulates GROMACS inputs on CPUs and GPUs. The program parhelion, its Python modules parhelion and\nparhelion_comm, and the manual.")
include(CPack)
