#include "agent/job_scripts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.hpp"
#include "model/script_environment.hpp"
#include "os/files.hpp"
#include "stepd/gpu_environment.hpp"
#include "wire/codec.hpp"

namespace switchyard::agent {
namespace {

constexpr std::size_t kCleanedMax = 4096;

// The cards that it has on this node.
void add_cards(const model::Job& job, const std::string& node,
               std::vector<std::string>& variables) {
    const model::Allocation* allocation = model::allocation_of(job);
    const model::NodeGrant* here = allocation != nullptr ? allocation->find(node) : nullptr;
    if (here == nullptr) return;
    std::vector<std::string> cards;
    for (const std::uint32_t card : stepd::visible_devices(*here))
        cards.push_back(std::to_string(card));
    if (!cards.empty()) variables.push_back("SLURM_JOB_GPUS=" + join(cards, ","));
}

}  // namespace

JobScripts::JobScripts(io::Loop& loop, const os::Log& log)
    : log_(log), programs_(loop, os::Programs::Reaping::ByOwner), names_(loop) {}
JobScripts::~JobScripts() = default;

void JobScripts::set_setup(ScriptSetup setup) {
    setup_ = std::move(setup);
    programs_.set_at_once_max(setup_.serial ? 1 : ~std::size_t{0});
}

std::string JobScripts::marker(const JobKey& job) const {
    return fmt::format("{}/prolog.{}.{}", setup_.spool, job.first.value, job.second.value);
}

bool JobScripts::is_prepared(const JobKey& job) const {
    return setup_.prolog.empty() || os::exists(marker(job));
}

std::vector<std::string> JobScripts::environment(const ScriptJob& job, bool epilog) const {
    const auto record = wire::decode(job.record);
    const model::ScriptFacts facts{.job = job.key.first,
                                   .uid = job.uid,
                                   .gid = job.gid,
                                   .user = {},
                                   .cluster = setup_.cluster,
                                   .config_path = setup_.config_path,
                                   .context = epilog ? "epilog_slurmd" : "prolog_slurmd"};
    std::vector<std::string> variables =
        model::script_environment(facts, record ? &*record : nullptr);
    variables.push_back("SLURMD_NODENAME=" + setup_.node);
    if (record) add_cards(*record, setup_.node, variables);
    return variables;
}

bool JobScripts::is_preparing(const JobKey& job) const { return preparing_.contains(job); }

void JobScripts::forget(const JobKey& job) { ::unlink(marker(job).c_str()); }

void JobScripts::forget_before(Instant time) {
    const auto names = os::list_folder(setup_.spool);
    if (!names) return;
    for (const std::string& name : *names) {
        const std::string path = setup_.spool + "/" + name;
        struct stat facts{};
        if (!name.starts_with("prolog.") || ::stat(path.c_str(), &facts) != 0) continue;
        if (Instant{Seconds{facts.st_mtime}} < time) ::unlink(path.c_str());
    }
}

void JobScripts::prepare(const ScriptJob& job, Done done) { add(job, false, std::move(done)); }

bool JobScripts::clean_up(const ScriptJob& job, Done done) {
    if (setup_.epilog.empty() || cleaned_.contains(job.key)) return false;
    add(job, true, std::move(done));
    return true;
}

void JobScripts::run(const std::string& program, std::vector<std::string> environment,
                     Seconds timeout, Done done) {
    programs_.add(
        {.programs = {program}, .environment = std::move(environment), .timeout = timeout},
        std::move(done));
}

void JobScripts::add(const ScriptJob& job, bool epilog, Done done) {
    if (!epilog) preparing_.insert(job.key);
    os::Programs::Order order{
        .programs = os::expand_programs(epilog ? setup_.epilog : setup_.prolog),
        .environment = environment(job, epilog),
        .timeout = epilog ? setup_.epilog_timeout : setup_.prolog_timeout};
    names_.find(job.uid, [this, key = job.key, epilog, order = std::move(order),
                          told = std::move(done)](const std::string& user) mutable {
        order.environment.push_back("SLURM_JOB_USER=" + user);
        programs_.add(std::move(order),
                      [this, key, epilog, told = std::move(told)](const Status& status) {
                          finish(key, epilog, status);
                          told(status);
                      });
    });
}

void JobScripts::finish(const JobKey& job, bool epilog, const Status& status) {
    if (!status) {
        log_.error(fmt::format("{} of job {}: {}", epilog ? "Epilog" : "Prolog", job.first.value,
                               status.error().message));
    }
    if (epilog) {
        if (cleaned_.insert(job).second) cleaned_order_.push_back(job);
        if (cleaned_order_.size() > kCleanedMax) {
            cleaned_.erase(cleaned_order_.front());
            cleaned_order_.pop_front();
        }
        return;
    }
    preparing_.erase(job);
    if (status) (void)os::write_new_file(marker(job), "", 0600);
}

}  // namespace switchyard::agent
