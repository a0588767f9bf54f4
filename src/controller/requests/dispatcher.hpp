// dispatcher.hpp: from a frame to its handler: weighed, decoded, within its user's limits, and with
// the names known that the handler needs.
#pragma once

#include <functional>
#include <string_view>

#include "controller/links/sessions.hpp"
#include "controller/names/names.hpp"
#include "controller/queries/query_context.hpp"
#include "controller/requests/request_context.hpp"

namespace switchyard::wire {
class Request;
}

namespace switchyard::controller {

class Dispatcher {
  public:
    Dispatcher(Names& names, RequestContext requests, QueryContext& queries, AdminContext admin,
               std::function<bool()> disk_is_full);
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    void on_request(Session& session, std::string_view frame);

  private:
    void handle(Session& session, const wire::Request& request);
    void call_handler(Session& session, const wire::Request& request);

    Names& names_;
    RequestContext requests_;
    QueryContext& queries_;
    AdminContext admin_;
    std::function<bool()> disk_is_full_;
};

}  // namespace switchyard::controller
