#include "cli/output.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace switchyard::cli {

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::optional<std::string> read_line() {
    char* text = nullptr;
    std::size_t room = 0;
    const ssize_t size = ::getline(&text, &room, stdin);
    std::optional<std::string> line;
    if (size >= 0) line.emplace(text, static_cast<std::size_t>(size));
    std::free(text);
    if (line && line->ends_with('\n')) line->pop_back();
    return line;
}

std::string date_line() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y\n", &local);
    return {text, size};
}

}  // namespace switchyard::cli
