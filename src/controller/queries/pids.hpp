// pids.hpp: scontrol listpids: the agents of the job's nodes are asked, and their answers gathered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/ids.hpp"
#include "controller/links/sessions.hpp"
#include "io/loop.hpp"

namespace switchyard::wire {
class PidsAnswer;
class PidsQuery;
class Reply;
}  // namespace switchyard::wire

namespace switchyard::controller {

struct QueryContext;

class Pids {
  public:
    explicit Pids(QueryContext& context);
    ~Pids();

    void start(Session& session, std::uint64_t request, const wire::PidsQuery& query);
    void on_answer(const std::string& node, const wire::PidsAnswer& answer);

  private:
    struct Gathering;
    void finish(std::uint64_t id);

    QueryContext& context_;
    std::uint64_t last_id_ = 0;
    std::map<std::uint64_t, std::unique_ptr<Gathering>> gatherings_;
};

}  // namespace switchyard::controller
