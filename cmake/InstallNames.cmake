# Run at install time: links for every command, units, completion and manual pages, all for this prefix.
#
# CMAKE_INSTALL_PREFIX is where things will stand, $ENV{DESTDIR} before it where they are put now.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(program "${root}/bin/switchyard")

function(sy_link target link)
  get_filename_component(folder "${link}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  file(CREATE_LINK "${target}" "${link}" SYMBOLIC)
  message(STATUS "Linking: ${link}")
endfunction()

# Which program has this name.
function(sy_program name out)
  list(FIND SY_ASKING ${name} place)
  if(place EQUAL -1)
    set(${out} switchyard PARENT_SCOPE)
  else()
    set(${out} switchyard-commands PARENT_SCOPE)
  endif()
endfunction()

foreach(name IN LISTS SY_COMMANDS)
  sy_program(${name} of_name)
  sy_link(${of_name} "${root}/bin/${name}")
endforeach()
foreach(name IN LISTS SY_DAEMONS)
  sy_link(../bin/switchyard "${root}/sbin/${name}")
endforeach()
foreach(name IN LISTS SY_SHADOWING)
  # In /usr the name belongs to another package, whose file stays; elsewhere it is ours to give.
  sy_program(${name} of_name)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    sy_link(../../bin/${of_name} "${root}/lib/switchyard/${name}")
  else()
    sy_link(${of_name} "${root}/bin/${name}")
  endif()
endforeach()

# Units name the programs of this prefix.
set(SBINDIR "${CMAKE_INSTALL_PREFIX}/sbin")
foreach(unit slurmctld.service slurmd.service slurmd@.service)
  configure_file("${SY_SOURCE_DIR}/packaging/${unit}.in" "${root}/lib/systemd/system/${unit}" @ONLY)
  message(STATUS "Installing: ${root}/lib/systemd/system/${unit}")
endforeach()

set(completions "${root}/share/bash-completion/completions")
file(MAKE_DIRECTORY "${completions}")
configure_file("${SY_SOURCE_DIR}/packaging/bash-completion" "${completions}/switchyard" COPYONLY)
foreach(name IN LISTS SY_COMMANDS)
  sy_link(switchyard "${completions}/${name}")
endforeach()

# The program knows its own manual.
execute_process(COMMAND "${program}" man --all "${root}/share/man" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${program} could not write its manual pages")
endif()
message(STATUS "Installing: ${root}/share/man")
