// key_files.cpp: the files of the cluster's key and of the key of tokens.
#include <sys/stat.h>

#include "fuzz/config_folder.hpp"
#include "wire/cluster_key.hpp"
#include "wire/key.hpp"
#include "wire/token.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ConfigFolder folder;
    const std::string path = folder.write("key", fuzz::as_text(data, size));
    fuzz::must(::chmod(path.c_str(), 0600) == 0, "a mode can be changed");
    const auto key = wire::load_cluster_key(path, "cluster");
    if (key) {
        fuzz::must(key->key.size() == wire::kKeyBytes, "a key has its length");
        const std::string again = folder.write("again", wire::to_hex(key->key) + "\n");
        fuzz::must(::chmod(again.c_str(), 0600) == 0, "a mode can be changed");
        const auto same = wire::load_cluster_key(again, "cluster");
        fuzz::must(same && same->key == key->key, "a key that is written reads as the same");
    }
    if (const auto token_key = wire::load_token_key("jwt_key=" + path, "cluster key"))
        fuzz::must(!token_key->empty(), "no token is signed by nothing");
    return 0;
}

}  // namespace switchyard
