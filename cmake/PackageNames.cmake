# Run by cpack on what it is about to pack: in the .deb the names that another package has too are ours, because
# packaging/debian/preinst moves the other's file aside.
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr")
file(GLOB links "${root}/lib/switchyard/*")
foreach(link IN LISTS links)
  get_filename_component(name "${link}" NAME)
  file(CREATE_LINK switchyard "${root}/bin/${name}" SYMBOLIC)
endforeach()
file(REMOVE_RECURSE "${root}/lib/switchyard")
