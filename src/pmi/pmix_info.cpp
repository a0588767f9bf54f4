#ifdef SY_HAS_PMIX_HEADERS
#include "pmi/pmix_info.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::pmi {

pmix_info_t& InfoList::append(std::string_view key, pmix_data_type_t type) {
    pmix_info_t& info = infos_.emplace_back();
    std::copy_n(key.data(), std::min(key.size(), sizeof info.key - 1), info.key);
    info.value.type = type;
    return info;
}

void InfoList::add(std::string_view key, const std::string& text) {
    append(key, PMIX_STRING).value.data.string = texts_.emplace_back(text).data();
}
void InfoList::add(std::string_view key, std::uint32_t number) {
    append(key, PMIX_UINT32).value.data.uint32 = number;
}
void InfoList::add_short(std::string_view key, std::uint16_t number) {
    append(key, PMIX_UINT16).value.data.uint16 = number;
}
void InfoList::add_rank(std::string_view key, pmix_rank_t rank) {
    append(key, PMIX_PROC_RANK).value.data.rank = rank;
}
void InfoList::add_flag(std::string_view key, bool flag) {
    append(key, PMIX_BOOL).value.data.flag = flag;
}
void InfoList::add_list(std::string_view key, InfoList list) {
    InfoList& kept = lists_.emplace_back(std::move(list));
    pmix_data_array_t& array = arrays_.emplace_back();
    array.type = PMIX_INFO;
    array.size = kept.size();
    array.array = kept.data();
    append(key, PMIX_DATA_ARRAY).value.data.darray = &array;
}

}  // namespace switchyard::pmi
#endif
