// libudev_absent.cpp: the five functions of libudev that hwloc's static archive refers to.
//
// hwloc asks udev only for names of I/O devices, which we do not look at. Linking libudev would add
// a second shared library beside glibc, so udev is absent here: udev_new() says that there is
// none, and hwloc then never calls the others.

extern "C" {

struct udev;
struct udev_device;

udev* udev_new() { return nullptr; }
udev* udev_unref(udev*) { return nullptr; }
udev_device* udev_device_new_from_subsystem_sysname(udev*, const char*, const char*) {
    return nullptr;
}
const char* udev_device_get_property_value(udev_device*, const char*) { return nullptr; }
udev_device* udev_device_unref(udev_device*) { return nullptr; }
}
