// Goal: cards that are asked for in several ways are counted once, and give the tasks and nodes
// that were not given. Method: specs in, numbers and words out.
#include "view/job/cards_asked.hpp"

#include <gtest/gtest.h>

#include "model/gres.hpp"
#include "view/job/job_facts.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

model::Job waiting(const model::JobSpec& spec) {
    return samples::job(1, spec, samples::pending(model::Reason::Resources));
}

TEST(CardsAsked, TwoWaysOfAskingGiveTheTasks) {
    model::JobSpec spec = samples::spec("train");
    spec.gpus_per_job = *model::parse_gres("gpu:4");
    spec.gpus_per_task = *model::parse_gres("gpu:2");
    EXPECT_EQ(task_count(waiting(spec)), 2u);
    EXPECT_EQ(requested_tres(waiting(spec)), "cpu=2,mem=200M,node=1,billing=2,gres/gpu=4");
    EXPECT_EQ(tres_per_task(spec), "gres/gpu=2");
    EXPECT_EQ(tres_bind(spec), "gres/gpu:per_task:2");
    spec.gpus_per_task.clear();
    spec.tasks_per_gpu = 2;
    EXPECT_EQ(task_count(waiting(spec)), 8u);
}

TEST(CardsAsked, CardsOfTheJobAndOfANodeGiveTheNodes) {
    model::JobSpec spec = samples::spec("train");
    spec.gpus_per_job = *model::parse_gres("gpu:4");
    spec.gres_per_node = *model::parse_gres("gpu:2");
    EXPECT_EQ(node_count(waiting(spec)), 2u);
    EXPECT_EQ(requested_tres(waiting(spec)), "cpu=2,mem=200M,node=2,billing=2,gres/gpu=4");
}

TEST(CardsAsked, TasksForEachCardAskForCards) {
    model::JobSpec spec = samples::spec("train");
    spec.tasks = 4;
    spec.tasks_per_gpu = 2;
    EXPECT_EQ(requested_tres(waiting(spec)), "cpu=4,mem=400M,node=1,billing=4,gres/gpu=2");
}

TEST(CardsAsked, ProcessorsForEachCardCount) {
    model::JobSpec spec = samples::spec("train");
    spec.gpus_per_job = *model::parse_gres("gpu:2");
    spec.cpus_per_gpu = 3;
    EXPECT_EQ(cpu_count(waiting(spec)), 6u);
    EXPECT_EQ(tres_per_task(spec), "");
    spec.cpus_per_task = 2;
    EXPECT_EQ(tres_per_task(spec), "cpu=2");
    EXPECT_EQ(tres_bind(spec), "");
    spec.gpu_bind = "closest";
    EXPECT_EQ(tres_bind(spec), "gres/gpu:closest");
}

}  // namespace
}  // namespace switchyard::view
