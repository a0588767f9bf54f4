# Where things go: the build tree's bin/ folder, `cmake --install` into any prefix, and the .deb.
#
# One executable, many names, and a second one for those of them that have to start quickly. Everything that depends on the prefix (units, links) is made at install
# time, so that `cmake --install build/release --prefix /opt/x` needs no new configuration.

set(SY_COMMANDS sbatch srun salloc squeue sinfo scancel scontrol sacct sacctmgr sdiag seff sprio sshare sstat sattach sbcast
    scrontab strigger swait)
set(SY_DAEMONS slurmctld slurmd slurmstepd)
# Of these names, those that the quicker program knows, where it could be linked.
set(SY_ASKING)
if(TARGET switchyard_commands)
  set(table ${CMAKE_SOURCE_DIR}/src/programs.hpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(READ ${table} text)
  string(REGEX MATCHALL "{\"[a-z]+\"" SY_ASKING "${text}")
  list(TRANSFORM SY_ASKING REPLACE "[{\"]" "")
endif()
# A name that Debian's procps has too: see InstallNames.cmake, and packaging/debian for the .deb.
set(SY_SHADOWING skill)

# --- the build tree: PATH=build/dev/bin is a whole installation ---
set(SY_PROGRAMS switchyard)
if(SY_ASKING)
  list(APPEND SY_PROGRAMS switchyard_commands)
endif()
set_target_properties(${SY_PROGRAMS} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(name ${SY_COMMANDS} ${SY_SHADOWING} ${SY_DAEMONS})
  set(program switchyard)
  if(name IN_LIST SY_ASKING)
    set(program switchyard-commands)
  endif()
  file(CREATE_LINK ${program} ${CMAKE_BINARY_DIR}/bin/${name} SYMBOLIC)
endforeach()

# --- cmake --install ---
include(GNUInstallDirs)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # The program is enough; the tests need not be built for a package.
install(TARGETS ${SY_PROGRAMS} RUNTIME DESTINATION bin)
install(CODE "
  set(SY_COMMANDS ${SY_COMMANDS})
  set(SY_SHADOWING ${SY_SHADOWING})
  set(SY_ASKING ${SY_ASKING})
  set(SY_DAEMONS ${SY_DAEMONS})
  set(SY_SOURCE_DIR [[${CMAKE_SOURCE_DIR}]])
")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/InstallNames.cmake)
install(FILES README.md README.zh.md CHANGELOG.md LICENSE NOTICE packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")

# --- cpack: the same as a .deb ---
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME switchyard)
set(CPACK_PACKAGE_VENDOR "Switchyard")
set(CPACK_PACKAGE_CONTACT "Switchyard maintainers <maintainers@switchyard.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Slurm-compatible workload manager in one binary")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Schedules jobs on clusters with the commands, scripts and configuration files\n of Slurm. The command 'switchyard up' starts a cluster on this machine.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONFLICTS "slurm-client, slurm-wlm, slurmctld, slurmd, slurm-wlm-basic-plugins")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(script preinst postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/${script})
endforeach()
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/PackageNames.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/PackageSize.cmake)
include(CPack)
