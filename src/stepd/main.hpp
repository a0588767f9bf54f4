#pragma once

namespace switchyard::stepd {
int stepd_main(int argc, char** argv);  // Started by an agent only; its socket is descriptor 3.
}
