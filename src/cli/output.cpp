#include "cli/output.hpp"

#include <cstdio>
#include <ctime>

namespace switchyard::cli {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string date_line() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y\n", &local);
    return {text, size};
}

}  // namespace switchyard::cli
