// pmix_info.hpp: lists of PMIx's key-value structures, with the memory behind them.
#pragma once

#include <pmix_server.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::pmi {

class InfoList {
  public:
    void add(std::string_view key, const std::string& text);
    void add(std::string_view key, std::uint32_t number);
    void add_short(std::string_view key, std::uint16_t number);
    void add_rank(std::string_view key, pmix_rank_t rank);
    void add_flag(std::string_view key, bool flag);
    void add_list(std::string_view key, InfoList list);

    pmix_info_t* data() { return infos_.data(); }
    std::size_t size() const { return infos_.size(); }

  private:
    pmix_info_t& append(std::string_view key, pmix_data_type_t type);

    std::vector<pmix_info_t> infos_;
    std::deque<std::string> texts_;
    std::deque<InfoList> lists_;
    std::deque<pmix_data_array_t> arrays_;
};

}  // namespace switchyard::pmi
