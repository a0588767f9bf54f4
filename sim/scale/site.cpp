// site.cpp: see site.hpp.

#include "sim/scale/site.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace switchyard::sim::scale {
namespace {

constexpr std::array kRoundMinutes{5u,   10u,  15u,  30u,  60u,   120u,  180u,
                                   240u, 360u, 480u, 720u, 1080u, 1440u, 2880u};
constexpr std::uint64_t kMemory = 256 * 1024, kCardMemory = 512 * 1024;

model::NodeConfig node_config(std::uint32_t number, std::uint32_t cores, bool cards) {
    model::NodeConfig node;
    node.name = fmt::format("{}{:05}", cards ? "g" : "c", number);
    node.cpus = cores;
    node.sockets = cores % 2 == 0 ? 2 : 1;
    node.cores_per_socket = cores / node.sockets;
    node.threads_per_core = 1;
    node.memory = model::MiB{cards ? kCardMemory : kMemory};
    if (cards) {
        model::GresInventory gpu, shard;
        gpu.name = "gpu";
        shard.name = "shard";
        gpu.type = shard.type = "a100";
        gpu.count = kCards;
        shard.count = kCards * kSharesPerCard;
        gpu.devices = shard.devices = model::IndexSet::range(0, kCards - 1);
        node.gres = {gpu, shard};
    }
    return node;
}

model::Partition partition(std::string name) {
    model::Partition made;
    made.name = std::move(name);
    return made;
}

model::GresRequest request(const char* name, std::uint64_t count) { return {name, "", count}; }

}  // namespace

core::Settings settings_for(std::uint32_t nodes, Mix mix) {
    return settings_for(nodes, kCores, mix);
}

core::Settings settings_for(std::uint32_t nodes, std::uint32_t cores, Mix mix) {
    core::Settings settings;
    settings.cluster_name = "scale";
    settings.gres_types = {"gpu", "shard"};
    settings.max_job_count = 10'000'000;
    settings.node_timeout = Seconds{300};
    if (mix == Mix::Plain) settings.memory_is_consumable = false;
    model::Partition batch = partition("batch"), longer = partition("long"),
                     debug = partition("debug"), gpu = partition("gpu");
    batch.is_default = true;
    debug.priority_tier = 10;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const bool cards = mix == Mix::Cards || (mix == Mix::Site && i % 5 == 4);
        settings.nodes.push_back(node_config(i, cores, cards));
        const std::string& name = settings.nodes.back().name;
        (cards ? gpu : batch).nodes.push_back(name);
        if (!cards) longer.nodes.push_back(name);
        if (!cards && i < std::max(1u, nodes / 100)) debug.nodes.push_back(name);
    }
    switch (mix) {
        case Mix::Site:
            settings.partitions = {batch, longer, debug, gpu};
            break;
        case Mix::Cards:
            gpu.is_default = true;
            settings.partitions = {gpu};
            break;
        case Mix::Plain:
            settings.partitions = {batch};
            break;
    }
    return settings;
}

void Source::words(model::JobSpec& spec) {
    const std::uint64_t number = ++count_;
    const std::uint32_t user = 1000 + static_cast<std::uint32_t>(std::sqrt(random_.below(250000)));
    spec.uid = spec.gid = user;
    spec.user = fmt::format("user{}", user);
    spec.group = fmt::format("group{}", user % 40);
    spec.account = fmt::format("project{}", user % 100);
    spec.name = fmt::format("run-{}", number);
    spec.work_dir = fmt::format("/home/{}/project/run{}", spec.user, user % 7);
    spec.command = fmt::format("{}/job{}.sh", spec.work_dir, number % 50);
    spec.submit_line = fmt::format("sbatch --job-name={} {} {}", spec.name, spec.command, number);
    spec.std_out = fmt::format("{}/out/{}.log", spec.work_dir, spec.name);
    spec.submit_host = fmt::format("login{}", user % 4);
}

void Source::size_small(model::JobSpec& spec) {
    constexpr std::array kCpus{1u, 1u, 1u, 2u, 4u, 4u, 8u, 12u, 16u, 24u, 32u};
    constexpr std::array kGigabytes{1u, 2u, 2u, 3u, 4u, 8u, 16u};
    spec.tasks = 1;
    spec.cpus_per_task = kCpus[random_.below(kCpus.size())];
    const std::uint64_t gigabytes = kGigabytes[random_.below(kGigabytes.size())];
    spec.memory = {model::MemoryRequest::Per::Cpu,
                   model::MiB{std::min(1024 * gigabytes, kMemory / *spec.cpus_per_task)}};
    if (random_.chance(10))
        spec.memory = {model::MemoryRequest::Per::Node,
                       model::MiB{1024u * random_.between(1, 200)}};
    spec.partitions = {random_.chance(10) ? "long" : "batch"};
    if (random_.chance(2)) spec.partitions = {"debug"};
}

void Source::size_whole(model::JobSpec& spec) {
    spec.nodes_min = spec.nodes_max = random_.chance(70) ? 1 : random_.between(2, 8);
    spec.exclusive = model::Exclusive::Node;
    spec.memory = {model::MemoryRequest::Per::Node, model::MiB{0}};
    spec.partitions = {random_.chance(20) ? "long" : "batch"};
}

void Source::size_wide(model::JobSpec& spec) {
    std::uint32_t nodes = 1u << random_.between(1, 6);
    if (random_.chance(5)) nodes *= 4;
    if (random_.chance(20)) nodes += random_.below(nodes);
    nodes = std::clamp(nodes, 1u, std::max(1u, nodes_ / 8));
    spec.nodes_min = spec.nodes_max = nodes;
    spec.tasks_per_node = random_.chance(60) ? kCores : kCores / (1u << random_.between(1, 3));
    spec.memory = {model::MemoryRequest::Per::Cpu, model::MiB{1024u * random_.between(1, 3)}};
    spec.partitions = {"batch"};
}

void Source::size_cards(model::JobSpec& spec) {
    spec.partitions = {"gpu"};
    spec.memory = {model::MemoryRequest::Per::Cpu, model::MiB{4096}};
    const std::uint32_t kind = random_.below(100);
    if (kind < 25) {  // Part of a card.
        spec.tasks = 1;
        spec.cpus_per_task = random_.between(1, 4);
        spec.gres_per_node = {request("shard", random_.between(1, kSharesPerCard - 1))};
    } else if (kind < 65) {  // Some cards of a node.
        const std::uint32_t cards = 1u << random_.below(3);
        spec.tasks = 1;
        spec.cpus_per_task = 6 * cards;
        spec.gres_per_node = {request("gpu", cards)};
    } else if (kind < 75) {  // So many cards, wherever.
        const std::uint32_t cards = random_.between(1, 16);
        spec.tasks = cards;
        spec.cpus_per_task = 4;
        spec.gpus_per_job = {request("gpu", cards)};
    } else {  // Whole nodes of cards.
        const std::uint32_t most = std::max(1u, nodes_ / (mix_ == Mix::Cards ? 16 : 80));
        spec.nodes_min = spec.nodes_max = std::min(most, 1u << random_.below(6));
        spec.tasks_per_node = kCards;
        spec.cpus_per_task = 6;
        spec.gres_per_node = {request("gpu", kCards)};
    }
}

Work Source::next() {
    Work work;
    model::JobSpec& spec = work.spec;
    words(spec);
    const std::uint32_t kind = mix_ == Mix::Cards ? 99 : random_.below(100);
    if (kind < 60) {
        size_small(spec);
    } else if (kind < 72) {
        size_whole(spec);
    } else if (kind < 82) {
        size_wide(spec);
    } else {
        size_cards(spec);
    }
    // The shorter of two, for most jobs are short.
    const auto round = [&] { return random_.below(kRoundMinutes.size()); };
    const std::uint32_t minutes =
        random_.chance(90) ? kRoundMinutes[std::min(round(), round())] : random_.between(5, 1440);
    spec.time_limit = model::TimeLimit{Minutes{minutes}, false};
    // Most need a small part of what they asked for; some run into their limit.
    const double part = std::pow((1 + random_.below(1000)) / 1000.0, 5);
    work.runs = Seconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(60 * minutes * part))};
    if (random_.chance(5)) work.exit_code = 1;
    if (random_.chance(2)) work.cancelled = true;
    return work;
}

double core_seconds(const Work& work) {
    const model::JobSpec& spec = work.spec;
    const double nodes = spec.nodes_min.value_or(1);
    double cores = spec.cpus_per_task.value_or(1);
    if (spec.tasks) cores *= *spec.tasks;
    if (spec.tasks_per_node) cores *= *spec.tasks_per_node * nodes;
    if (spec.exclusive == model::Exclusive::Node) cores = kCores * nodes;
    return cores * static_cast<double>(work.runs.count());
}

namespace {

// The same seed is drawn from twice: once to measure the length of the whole, once to generate it.
class SiteStream : public Stream {
  public:
    explicit SiteStream(const StreamOptions& options)
        : options_(options),
          jobs_(options.seed, options.nodes, options.mix),
          gaps_(options.seed + 1) {
        Source all(options.seed, options.nodes, options.mix);
        Random gaps(options.seed + 1);
        double work = 0, sum = 0;
        for (std::uint32_t i = 0; i < options.count; ++i) {
            work += core_seconds(all.next());
            sum += gap(gaps);
        }
        stretch_ = work / (options.load * options.nodes * kCores) / sum;
    }

    std::optional<Work> next() override {
        if (told_ == options_.count) return std::nullopt;
        ++told_;
        at_ += gap(gaps_) * stretch_;
        const double day = 86400 / (2 * 3.14159265358979);
        const double shifted = at_ - 0.5 * day * std::sin(at_ / day);
        Work work = jobs_.next();
        work.arrives = options_.from + Millis{static_cast<std::int64_t>(1000 * shifted)};
        return work;
    }

  private:
    // What a loop in a shell sends comes at once; people come as chance wills.
    static double gap(Random& random) {
        if (random.chance(60)) return 0.002;
        return -std::log((1 + random.below(9999)) / 10000.0);
    }

    StreamOptions options_;
    Source jobs_;
    Random gaps_;
    std::uint32_t told_ = 0;
    double stretch_ = 1, at_ = 0;
};

}  // namespace

std::unique_ptr<Stream> site_stream(const StreamOptions& options) {
    return std::make_unique<SiteStream>(options);
}

}  // namespace switchyard::sim::scale
