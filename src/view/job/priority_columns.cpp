#include "view/job/priority_columns.hpp"

#include <fmt/format.h>

namespace switchyard::view {
namespace {

using Row = PriorityRow;

constexpr double kPriorityTop = 4294967295.0;
constexpr Overflow kCut = Overflow::Cut;

std::string of_job(const Row& row, const std::string& text) {
    return row.job == nullptr ? std::string() : text;
}
std::string factor(const Row&) { return "0"; }
std::string normal(const Row&) { return "0.0000000"; }
std::string no_tres(const Row& row) { return row.job == nullptr ? "(null)" : ""; }

const Field<Row> kFields[] = {
    {'a', "", "AGE", kCut, normal},
    {'A', "", "AGE", kCut, factor},
    {'b', "", "ASSOC", kCut, normal},
    {'B', "", "ASSOC", kCut, factor},
    {'c', "", "CLUSTER", kCut,
     [](const Row& r) { return r.cluster.empty() ? "(null)" : r.cluster; }},
    {'f', "", "FAIRSHARE", kCut, normal},
    {'F', "", "FAIRSHARE", kCut, factor},
    {'i', "", "JOBID", kCut,
     [](const Row& r) { return r.job == nullptr ? "Weights" : model::display_id(*r.job); }},
    {'j', "", "JOBSIZE", kCut, normal},
    {'J', "", "JOBSIZE", kCut, factor},
    {'n', "", "QOSNAME", kCut,
     [](const Row& r) { return of_job(r, r.job ? r.job->spec->qos : ""); }},
    {'N', "", "NICE", kCut,
     [](const Row& r) { return of_job(r, fmt::to_string(r.job ? r.job->spec->nice : 0)); }},
    {'o', "", "ACCOUNT", kCut,
     [](const Row& r) { return of_job(r, r.job ? r.job->spec->account : ""); }},
    {'p', "", "PARTITION", kCut, normal},
    {'P', "", "PARTITION", kCut, factor},
    {'q', "", "QOS", kCut, normal},
    {'Q', "", "QOS", kCut, factor},
    {'r', "", "PARTITION", kCut, [](const Row& r) { return r.partition; }},
    {'s', "", "SLUID", kCut, [](const Row& r) { return r.sluid; }},
    {'S', "", "SITE", kCut, [](const Row& r) { return std::string(r.job == nullptr ? "1" : "0"); }},
    {'t', "", "TRES", kCut, no_tres},
    {'T', "", "TRES", kCut, no_tres},
    {'u', "", "USER", kCut, [](const Row& r) { return of_job(r, r.job ? r.job->spec->user : ""); }},
    {'y', "", "PRIORITY", kCut,
     [](const Row& r) {
         return of_job(r, fmt::format("{:.14f}", r.job ? r.job->priority / kPriorityTop : 0));
     }},
    {'Y', "", "PRIORITY", kCut,
     [](const Row& r) { return of_job(r, fmt::to_string(r.job ? r.job->priority : 0)); }},
};

}  // namespace

std::span<const Field<PriorityRow>> priority_fields() { return kFields; }

}  // namespace switchyard::view
