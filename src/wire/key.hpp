// key.hpp: keys and other secrets: made, written as text, compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace switchyard::wire {

inline constexpr std::size_t kKeyBytes = 32;

std::string random_bytes(std::size_t count);  // From the kernel, fit for keys.
inline std::string random_key() { return random_bytes(kKeyBytes); }
// Takes the same time wherever they differ, so that a secret cannot be guessed byte by byte.
bool same_secret(std::string_view a, std::string_view b);

// A step's one-time key as a proof that its holder has it. Each side shows one half: who only heard
// the other's cannot answer with its own.
std::string stepd_proof(std::string_view key);
std::string srun_proof(std::string_view key);

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);

}  // namespace switchyard::wire
