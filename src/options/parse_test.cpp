// parse_test.cpp: options as users give them: every option once, precedence, and the words for bad
// values.
#include "options/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"
#include "options/help.hpp"
#include "options/option.hpp"

namespace switchyard::options {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Surroundings surroundings(std::vector<std::string> environment = {}) {
    return {.now = from_unix_seconds(1'800'000'000),
            .work_dir = "/home/alice",
            .environment = std::move(environment)};
}

struct Parsed {
    JobRequest request;
    Outcome fault;
    std::size_t operands_at = 0;
};

Parsed parse(Command command, std::vector<std::string> words,
             std::vector<std::string> environment = {}, std::string_view script = {}) {
    Parsed parsed;
    parsed.request.command = command;
    const Surroundings world = surroundings(std::move(environment));
    words.insert(words.begin(), std::string(to_string(command)));
    parsed.fault = apply_script(parsed.request, scan_directives(script), world);
    if (!parsed.fault) parsed.fault = apply_environment(parsed.request, world);
    if (!parsed.fault) {
        parsed.fault =
            apply_words(parsed.request, words, Source::CommandLine, world, &parsed.operands_at);
    }
    if (!parsed.fault) parsed.fault = finish(parsed.request, world);
    return parsed;
}

model::JobSpec job_of(std::vector<std::string> words) {
    Parsed parsed = parse(Command::Sbatch, std::move(words));
    EXPECT_FALSE(parsed.fault) << (parsed.fault ? parsed.fault->text : "");
    return parsed.request.job;
}

// A value that each option with an argument accepts.
std::string sample_value(std::string_view name) {
    static const std::map<std::string_view, std::string> special = {
        {"mail-type", "END"},
        {"time", "10"},
        {"time-min", "5"},
        {"begin", "now+1hour"},
        {"deadline", "now+2days"},
        {"gres", "gpu:1"},
        {"gpus", "2"},
        {"gpus-per-node", "a100:2"},
        {"nodes", "2-4"},
        {"signal", "B:USR1@60"},
        {"export", "ALL"},
        {"open-mode", "append"},
        {"distribution", "cyclic"},
        {"dependency", "singleton"},
        {"hint", "nomultithread"},
        {"gpu-bind", "closest"},
        {"profile", "task"},
        {"mem-update", "20@10"},
        {"ignore-signals", "INT,15"},
        {"extra-node-info", "1:2:1"},
        {"kill-on-invalid-dep", "yes"},
        {"cpu-bind", "verbose,cores"},
        {"mem-bind", "local"},
        {"cpu_bind", "none"},
        {"mem_bind", "quiet"},
        {"tres-per-task", "cpu:2"},
        {"gres-flags", "allow-task-sharing"},
        {"nodelist", "n[1-2]"},
        {"exclude", "n3"},
        {"nodefile", "/dev/null"},
        {"wait-all-nodes", "1"},
    };
    const auto found = special.find(name);
    return found == special.end() ? "2" : found->second;
}

TEST(Options, EveryOptionOfTheTableIsParsedOrSaysThatItIsNotSupported) {
    std::set<const Option*> refused;
    for (const Option& option : refused_options()) refused.insert(&option);
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        for (const Option* option : all_options()) {
            if (!option->applies_to(command) || option->name == "nodefile") continue;
            std::string word = "--" + std::string(option->name);
            if (option->argument == Argument::Required) word += "=" + sample_value(option->name);
            std::vector<std::string> words{word};
            if (option->name == "gpus-per-task") words.push_back("-n2");
            if (option->name == "gpus-per-socket") words.push_back("--sockets-per-node=1");
            const Parsed parsed = parse(command, words);
            if (option->name == "uid" || option->name == "gid") {
                ASSERT_TRUE(parsed.fault);
                EXPECT_THAT(parsed.fault->text, HasSubstr("only permitted by root"));
            } else if (option->name == "slurmd-debug") {
                ASSERT_TRUE(parsed.fault);
                EXPECT_THAT(parsed.fault->text, HasSubstr("allowed only for root"));
            } else if (refused.contains(option)) {
                ASSERT_TRUE(parsed.fault) << word;
                EXPECT_THAT(parsed.fault->text, HasSubstr("is not supported"));
            } else {
                EXPECT_FALSE(parsed.fault)
                    << to_string(command) << " " << word << ": " << parsed.fault->text;
                EXPECT_EQ(parsed.request.given.size(), words.size()) << word;
            }
        }
    }
}

TEST(Options, HintsThatAreNotFollowedAreWarnedAbout) {
    for (const Option& option : hint_options()) {
        if (option.name == "slurmd-debug") continue;  // For root alone.
        const Command command = option.applies_to(Command::Srun) ? Command::Srun : Command::Sbatch;
        std::string word = "--" + std::string(option.name);
        if (option.argument == Argument::Required) word += "=" + sample_value(option.name);
        EXPECT_THAT(parse(command, {word}).request.warnings,
                    ElementsAre(HasSubstr(word.substr(0, 5))))
            << word;
    }
}

TEST(Options, ValuesThatAreKeptButNotFollowedAreWarnedAboutOnceAndNotInEveryStep) {
    EXPECT_EQ(parse(Command::Sbatch, {"--gpu-bind=closest"}).request.warnings.size(), 0u);
    EXPECT_EQ(parse(Command::Srun, {"-m", "block:cyclic"}).request.warnings.size(), 0u);
    EXPECT_EQ(parse(Command::Srun, {"-m", "block:cyclic:cyclic"}).request.warnings.size(), 1u);
    EXPECT_EQ(parse(Command::Srun, {"--mem-bind=local"}).request.warnings.size(), 0u);
    EXPECT_EQ(parse(Command::Srun, {"--mem-bind=sort,local"}).fault->text,
              "unrecognized --mem-bind argument \"sort\"");
    EXPECT_EQ(parse(Command::Sbatch, {"--resv-ports=2"}).request.warnings.size(), 1u);
    EXPECT_EQ(parse(Command::Srun, {}, {"SLURM_JOB_ID=7", "SLURM_GPU_BIND=closest"})
                  .request.warnings.size(),
              0u);
}

TEST(Options, NoTwoOptionsOfACommandShareANameOrALetter) {
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        std::set<std::string_view> names;
        std::set<char> letters;
        for (const Option* option : all_options()) {
            if (!option->applies_to(command)) continue;
            EXPECT_TRUE(names.insert(option->name).second) << option->name;
            if (option->letter != 0)
                EXPECT_TRUE(letters.insert(option->letter).second) << option->letter;
        }
    }
}

TEST(Options, ShortLettersClusterAndTakeTheirValueWithOrWithoutABlank) {
    const model::JobSpec job = job_of({"-HON2", "-n", "4", "-c2", "-Jname", "-p", "a,b"});
    EXPECT_TRUE(job.hold);
    EXPECT_TRUE(job.overcommit);
    EXPECT_EQ(job.nodes_min, 2u);
    EXPECT_EQ(job.nodes_max, 2u);
    EXPECT_EQ(job.tasks, 4u);
    EXPECT_EQ(job.cpus_per_task, 2u);
    EXPECT_EQ(job.name, "name");
    EXPECT_THAT(job.partitions, ElementsAre("a", "b"));
}

TEST(Options, AnUnambiguousPrefixOfALongNameWillDo) {
    const model::JobSpec job = job_of({"--job=x", "--ntasks-per-n=3", "--constr", "gpu"});
    EXPECT_EQ(job.name, "x");
    EXPECT_EQ(job.tasks_per_node, 3u);
    EXPECT_EQ(job.constraint, "gpu");
}

TEST(Options, TasksPerNodeIsASecondSpelling) {
    const Parsed parsed = parse(Command::Sbatch, {"--tasks-per-node=2"});
    EXPECT_EQ(parsed.request.job.tasks_per_node, 2u);
    EXPECT_TRUE(parsed.request.was_given("ntasks-per-node"));
}

TEST(Options, OptionsEndAtTheScriptAndItsArgumentsAreItsOwn) {
    const Parsed parsed = parse(Command::Sbatch, {"-N1", "job.sh", "-N2", "--nosuch"});
    EXPECT_FALSE(parsed.fault);
    EXPECT_EQ(parsed.operands_at, 2u);
    EXPECT_EQ(parsed.request.job.nodes_min, 1u);
}

TEST(Options, OptionalArgumentsNeedTheirSignOrNone) {
    EXPECT_EQ(job_of({"--exclusive"}).exclusive, model::Exclusive::Node);
    EXPECT_EQ(job_of({"--exclusive=user"}).exclusive, model::Exclusive::User);
    EXPECT_EQ(job_of({"--exclusive=topo"}).exclusive, model::Exclusive::Topo);
    EXPECT_EQ(job_of({"--requeue"}).requeue, true);
    EXPECT_EQ(job_of({"--requeue="}).requeue, true);
    EXPECT_EQ(job_of({"--requeue", "--no-requeue"}).requeue, false);
    EXPECT_EQ(job_of({"--nice"}).nice, 100);
    EXPECT_EQ(job_of({"--nice=7"}).nice, 7);
    EXPECT_TRUE(job_of({"-k"}).no_kill);
    EXPECT_FALSE(job_of({"--no-kill=off"}).no_kill);
    EXPECT_EQ(parse(Command::Srun, {"-K"}).request.launch.kill_on_bad_exit, true);
    EXPECT_EQ(parse(Command::Srun, {"--kill-on-bad-exit=0"}).request.launch.kill_on_bad_exit,
              false);
    EXPECT_EQ(parse(Command::Srun, {"-I30"}).request.ask.immediate_seconds, 30u);
    EXPECT_TRUE(parse(Command::Salloc, {"-I"}).request.job.immediate);
    EXPECT_EQ(parse(Command::Salloc, {"--kill-command=USR1"}).request.ask.kill_signal, 10);
}

TEST(Options, SizesAndTimesAreRead) {
    const model::JobSpec job =
        job_of({"--mem=4G", "-t", "1-12:30", "--tmp=1G", "-B", "2:*:1", "--mincpus=3"});
    EXPECT_EQ(job.memory.per, model::MemoryRequest::Per::Node);
    EXPECT_EQ(job.memory.amount.value, 4096u);
    EXPECT_EQ(job.time_limit->seconds, Seconds{(36 * 60 + 30) * 60});
    EXPECT_EQ(job.tmp_disk.value, 1024u);
    EXPECT_EQ(job.sockets_per_node, 2u);
    EXPECT_FALSE(job.cores_per_socket);
    EXPECT_EQ(job.threads_per_core, 1u);
    EXPECT_EQ(job.cpus_per_node_min, 3u);
}

TEST(Options, TimeLimitsAreWholeMinutesAndZeroIsNone) {
    EXPECT_EQ(job_of({"--time=00:00:30"}).time_limit->seconds, Seconds{60});
    EXPECT_TRUE(job_of({"--time=0"}).time_limit->unlimited);
    EXPECT_TRUE(job_of({"--time=infinite"}).time_limit->unlimited);
}

TEST(Options, GpusPerNodeHasTheLastWordOnGpus) {
    const model::JobSpec job = job_of({"--gres=gpu:1,shard:4", "--gpus-per-node=a100:2"});
    EXPECT_EQ(model::to_string(job.gres_per_node), "shard:4,gpu:a100:2");
    EXPECT_TRUE(job_of({"--gpus-per-node=0"}).gres_per_node.empty());
}

TEST(Options, ResourcesPerTask) {
    const model::JobSpec job = job_of({"-n2", "--tres-per-task=cpu:4,gres/gpu:a100:2"});
    EXPECT_EQ(job.cpus_per_task, 4u);
    EXPECT_EQ(model::to_string(job.gpus_per_task), "gpu:a100:2");
}

TEST(Options, MailTypesOfSeveralLinesAddUpAndTheCommandLineReplacesThem) {
    const std::string script = "#!/bin/sh\n#SBATCH --mail-type=BEGIN\n#SBATCH --mail-type=END\n";
    EXPECT_EQ(
        model::mail_types_to_string(parse(Command::Sbatch, {}, {}, script).request.job.mail_types),
        "BEGIN,END");
    EXPECT_EQ(model::mail_types_to_string(
                  parse(Command::Sbatch, {"--mail-type=FAIL"}, {}, script).request.job.mail_types),
              "FAIL");
}

// --- precedence ---

TEST(Options, CommandLineBeatsEnvironmentBeatsScript) {
    const std::string script = "#!/bin/sh\n#SBATCH -p script -t 3 -A script\n";
    const std::vector<std::string> environment = {"SBATCH_PARTITION=env", "SBATCH_TIMELIMIT=2"};
    const model::JobSpec job =
        parse(Command::Sbatch, {"-p", "line"}, environment, script).request.job;
    EXPECT_THAT(job.partitions, ElementsAre("line"));
    EXPECT_EQ(job.time_limit->seconds, Seconds{120});
    EXPECT_EQ(job.account, "script");
}

TEST(Options, EveryInputVariableOfTheTableIsHeeded) {
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        for (const Option* option : all_options()) {
            if (!option->applies_to(command)) continue;
            for (const std::string_view variable : split(option->variables_of(command), ' ')) {
                std::string value =
                    option->argument == Argument::None ? "1" : sample_value(option->name);
                const Parsed parsed = parse(command, {}, {std::string(variable) + "=" + value});
                const bool heeded =
                    parsed.fault || !parsed.request.given.empty() || variable == "SLURM_JOB_ID";
                EXPECT_TRUE(heeded || !parsed.request.warnings.empty()) << variable;
            }
        }
    }
}

TEST(Options, AFlagVariableIsOnWhenEmptyOrYesOrANumberButZero) {
    for (const std::string value : {"", "yes", "YES", "1", "7"}) {
        EXPECT_TRUE(
            parse(Command::Sbatch, {}, {"SBATCH_OVERCOMMIT=" + value}).request.job.overcommit)
            << value;
    }
    for (const std::string value : {"0", "no", "off"}) {
        EXPECT_FALSE(
            parse(Command::Sbatch, {}, {"SBATCH_OVERCOMMIT=" + value}).request.job.overcommit)
            << value;
    }
}

TEST(Options, SbatchInsideAJobDoesNotInheritTheNeedsOfThatJob) {
    const model::JobSpec job =
        parse(Command::Sbatch, {},
              {"SLURM_NTASKS=8", "SLURM_NNODES=4", "SLURM_JOB_ID=7", "SBATCH_QOS=high"})
            .request.job;
    EXPECT_FALSE(job.tasks);
    EXPECT_FALSE(job.nodes_min);
    EXPECT_EQ(job.qos, "high");
}

TEST(Options, SrunInsideAJobTakesItsNeedsFromTheEnvironmentAndNotItsName) {
    const Parsed parsed =
        parse(Command::Srun, {},
              {"SLURM_JOB_ID=7", "SLURM_JOB_NAME=train", "SLURM_JOB_NUM_NODES=2",
               "SLURM_NTASKS_PER_NODE=2", "SLURM_MEM_PER_CPU=100", "SLURM_OOM_KILL_STEP=0"});
    EXPECT_FALSE(parsed.fault);
    EXPECT_THAT(parsed.request.warnings, ElementsAre());
    EXPECT_EQ(parsed.request.ask.job_id, JobId{7});
    EXPECT_EQ(parsed.request.job.name, "");
    const model::StepSpec step = step_spec(parsed.request, false);
    EXPECT_EQ(step.nodes_min, 2u);
    EXPECT_EQ(step.tasks_per_node, 2u);
    EXPECT_EQ(step.memory.amount.value, 100u);
}

TEST(Options, MemoryOfAStrongerSourceReplacesThatOfAWeakerOne) {
    const Parsed parsed =
        parse(Command::Sbatch, {"--mem-per-cpu=10"}, {}, "#!/bin/sh\n#SBATCH --mem=4G\n");
    EXPECT_FALSE(parsed.fault);
    EXPECT_EQ(parsed.request.job.memory.per, model::MemoryRequest::Per::Cpu);
    const Parsed both = parse(Command::Sbatch, {"--mem=1", "--mem-per-cpu=1"});
    ASSERT_TRUE(both.fault);
    EXPECT_EQ(both.fault->text,
              "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

TEST(Options, CardsForTheJobAndForEachTaskAreACountOfTasks) {
    EXPECT_EQ(job_of({"--gpus=4", "--gpus-per-task=2"}).tasks, 2u);
    EXPECT_EQ(job_of({"--gpus=2", "--ntasks-per-gpu=2"}).tasks, 4u);
    EXPECT_EQ(job_of({"--gpus=4", "--gpus-per-task=2", "-n8"}).tasks, 8u);
    EXPECT_FALSE(job_of({"--gpus=3", "--gpus-per-task=2"}).tasks);
    EXPECT_FALSE(job_of({"--gpus=3"}).tasks);
}

// --- bad values: words and exit codes as Slurm has them ---

struct BadCase {
    std::vector<std::string> words;
    std::string text;
    int exit;
};

TEST(Options, BadValuesAreToldInSlurmsWordsWithItsExitCodes) {
    const BadCase cases[] = {
        {{"--mem=lots"}, "Invalid --mem specification", 255},
        {{"-N", "zero"}, "\"zero\" is not a valid node count", 255},
        {{"-N", "4-2"}, "Maximum node count 2 is less than minimum node count 4", 255},
        {{"-N", "0"}, "Node count specification invalid", 1},
        {{"-n", "0"}, "Invalid numeric value \"0\" for --ntasks.", 1},
        {{"-c", "x"}, "Invalid numeric value \"x\" for --cpus-per-task.", 1},
        {{"-t", "nonsense"}, "Invalid --time specification", 255},
        {{"--array=5-1"}, "Invalid job array specification", 1},
        {{"-d", "bogus:1"}, "Job dependency problem", 1},
        {{"--mail-type=SOMETIMES"}, "Invalid --mail-type specification", 255},
        {{"--open-mode=x"}, "Invalid --open-mode specification", 255},
        {{"--signal=NOSUCH"}, "Invalid --signal specification", 255},
        {{"--begin=someday"}, "Invalid --begin specification", 255},
        {{"--propagate=WATER"}, "Bad rlimit name: WATER\n--propagate=WATER is not valid.", 1},
        {{"--hint=hunch"}, "unrecognized --hint argument \"hunch\", see --hint=help", 1},
        {{"--gpu-bind=nearest"}, "Invalid --gpu-bind argument: nearest", 255},
        {{"-B", "2:x"}, "Invalid numeric value \"x\" for second arg of -B.", 1},
        {{"--wait-all-nodes=x"}, "Invalid numeric value \"x\" for --wait-all-nodes.", 1},
        {{"--resv-ports=x"}, "Invalid numeric value \"x\" for --resv-port.", 1},
        {{"--acctg-freq=water=3"}, "Invalid --acctg-freq specification: water=3", 255},
        {{"--cpu-freq=quick"},
         "unrecognized --cpu-freq argument \"quick\"\nInvalid --cpu-freq argument",
         255},
        {{"-F", "/nosuch"},
         "slurm_allocate_resources error opening file /nosuch, No such file or directory\n"
         "Invalid --nodefile node file",
         255},
        {{"--delay-boot=x"}, "Invalid --delay-boot specification", 255},
        {{"--oom-kill-step=2"}, "Invalid --oom-kill-step specification", 255},
        {{"--profile=water"}, "invalid --profile=water option", 255},
        {{"--segment=0"}, "Invalid --segment specification", 255},
        {{"--switches=x"}, "Invalid numeric value \"x\" for --switches.", 1},
        {{"--mem-update=20"}, "Invalid --mem-update specification", 255},
        {{"--gres=gpu:none:of:these"}, "Invalid generic resource (gres) specification", 1},
        {{"--gres=gpu:0"}, "Invalid generic resource (gres) specification", 1},
        {{"--gres=gpu:-1"}, "Invalid generic resource (gres) specification", 1},
        {{"--gres-flags=tight"}, "Invalid --gres-flags specification: tight", 255},
        {{"--gres-flags="}, "Invalid --gres-flags specification: ", 255},
        {{"-w", "n[1-"}, "Invalid node name specified", 1},
        {{"-w", "n[1-2]", "-x", "n2"}, "Invalid node name specified", 1},
        {{"--export="}, "Invalid --export specification", 255},
        {{"-L", "matlab:0"}, "Invalid license specification", 1},
        {{"-L", "a,b|c"}, "Invalid license specification", 1},
        {{"-t10", "--time-min=20"},
         "Invalid time-min specification (exceeds job's time or other limits)",
         1},
        {{"--gpus-per-task=1", "--ntasks-per-gpu=1"},
         "fatal: --gpus-per-task is mutually exclusive with --ntasks-per-gpu and "
         "SLURM_NTASKS_PER_GPU",
         1},
        {{"--cpus-per-gpu=1", "-c1"},
         "fatal: --cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive",
         1},
        {{"--gpus-per-socket=1"},
         "--gpus-per-socket option requires --sockets-per-node specification\n"
         "Invalid generic resource (gres) specification",
         1},
    };
    for (const BadCase& bad : cases) {
        const Parsed parsed = parse(Command::Sbatch, bad.words);
        ASSERT_TRUE(parsed.fault) << bad.words.front();
        EXPECT_EQ(parsed.fault->text, bad.text);
        EXPECT_EQ(exit_code(*parsed.fault), bad.exit) << bad.text;
    }
}

TEST(Options, CardsForEachTaskNeedANumberOfTasks) {
    for (const char* more : {"--ntasks-per-node=2", "--gpus-per-node=2", "-N1-2", "-wn1"}) {
        const Parsed parsed = parse(Command::Sbatch, {"--gpus-per-task=1", more});
        ASSERT_TRUE(parsed.fault) << more;
        EXPECT_EQ(parsed.fault->text,
                  "Failed to validate job spec. --gpus-per-task or --tres-per-task used without "
                  "either --gpus or -n/--ntasks is not allowed.\n"
                  "Invalid generic resource (gres) specification");
        EXPECT_EQ(exit_code(*parsed.fault), 1);
    }
    for (const char* more : {"-n2", "-N2", "--gpus=4"})
        EXPECT_FALSE(parse(Command::Sbatch, {"--gpus-per-task=1", more}).fault) << more;
    // A step has the tasks of its job.
    EXPECT_FALSE(parse(Command::Srun, {"--gpus-per-task=1"}, {"SLURM_JOB_ID=7"}).fault);
    EXPECT_TRUE(parse(Command::Srun, {"--gpus-per-task=1"}).fault);
}

TEST(Options, AnUnknownOptionIsGetoptsToTell) {
    testing::internal::CaptureStderr();
    const Parsed parsed = parse(Command::Sbatch, {"--nosuch"});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "sbatch: unrecognized option '--nosuch'\n");
    ASSERT_TRUE(parsed.fault);
    EXPECT_EQ(parsed.fault->kind, Fault::Kind::Unrecognized);
    EXPECT_EQ(exit_code(*parsed.fault), 255);
}

// --- what follows from several options ---

TEST(Options, MoreNodesThanTasksAreReducedWithAWarning) {
    const Parsed parsed = parse(Command::Sbatch, {"-N4", "-n2"});
    EXPECT_EQ(parsed.request.job.nodes_min, 2u);
    EXPECT_THAT(parsed.request.warnings,
                ElementsAre("can't run 2 processes on 4 nodes, setting nnodes to 2"));
}

TEST(Options, AStepOfOneTaskInAJobOfTwoNodesUsesOneNode) {
    const Parsed parsed = parse(Command::Srun, {"-n1"},
                                {"SLURM_JOB_ID=7", "SLURM_NNODES=2", "SLURM_NTASKS_PER_NODE=1"});
    EXPECT_THAT(parsed.request.warnings,
                ElementsAre("can't run 1 processes on 2 nodes, setting nnodes to 1"));
    EXPECT_EQ(step_spec(parsed.request, false).nodes_max, 1u);
}

TEST(Options, ProcessorsToATaskOfTheJobAroundItConfineAStep) {
    const std::vector<std::string> around{"SLURM_JOB_ID=7", "SLURM_CPUS_PER_TASK=2",
                                          "SLURM_TRES_PER_TASK=cpu=2"};
    const Parsed inherited = parse(Command::Srun, {"-n1"}, around);
    EXPECT_EQ(inherited.request.job.cpus_per_task, 2u);
    EXPECT_TRUE(step_spec(inherited.request, false).exact);
    EXPECT_THAT(inherited.request.notes, ElementsAre());
    EXPECT_FALSE(step_spec(parse(Command::Srun, {"-n1"}, {"SLURM_JOB_ID=7"}).request, false).exact);
    EXPECT_TRUE(step_spec(parse(Command::Srun, {"--exclusive"}).request, true).exact);
    EXPECT_THAT(
        parse(Command::Srun, {"-c3"}, around).request.notes,
        ElementsAre("Job step's --cpus-per-task value exceeds that of job (3 > 2). Job step "
                    "may never run."));
}

TEST(Options, TasksCountedByCoresAndThreadsAreBoundToThem) {
    const auto bind = [](std::vector<std::string> words) {
        return parse(Command::Srun, std::move(words)).request.launch.cpu_bind;
    };
    EXPECT_EQ(bind({"-n1"}), "");
    EXPECT_EQ(bind({"--ntasks-per-core=1"}), "quiet,cores");
    EXPECT_EQ(bind({"--ntasks-per-socket=1"}), "quiet,sockets");
    EXPECT_EQ(bind({"--ntasks-per-core=1", "--threads-per-core=1"}), "quiet,threads");
    EXPECT_EQ(bind({"--ntasks-per-core=1", "--cpu-bind=none"}), "quiet,cores,none");
    EXPECT_EQ(bind({"--hint=compute_bound"}), "quiet,cores");
    EXPECT_EQ(bind({"--hint=nomultithread"}), "quiet,threads");
    EXPECT_EQ(bind({"-B", "1:1"}), "quiet,cores");
    EXPECT_EQ(parse(Command::Srun, {"--cpu-bind=rank"}).request.notes.size(), 1u);
    EXPECT_EQ(bind({"--cpu-bind=rank"}), "");
}

TEST(Options, WhatIsWrongWithABindingOrADistributionIsSaid) {
    const auto said = [](const char* word) {
        return parse(Command::Srun, {word}).fault.value_or(Fault{}).text;
    };
    const std::string tail = "\nfatal: Failed to parse --cpu-bind= values.";
    EXPECT_EQ(said("--cpu-bind=boards"), "unrecognized --cpu-bind argument \"boards\"" + tail);
    EXPECT_EQ(said("--cpu-bind=map_cpu"), "missing list for \"--cpu-bind=map_cpu:<list>\"" + tail);
    EXPECT_EQ(said("-mplane"),
              "Invalid plane size or size not specified\nInvalid --distribution specification");
    EXPECT_EQ(said("-mplane=0"),
              "Invalid plane size or size not specified\nInvalid --distribution specification");
}

TEST(Options, NamedNodesAreCounted) {
    const Parsed parsed = parse(Command::Srun, {"-w", "n2", "-n1"},
                                {"SLURM_JOB_ID=7", "SLURM_NNODES=2", "SLURM_NTASKS=4"});
    const model::StepSpec step = step_spec(parsed.request, false);
    EXPECT_EQ(step.nodes_min, 1u);
    EXPECT_EQ(step.nodes_max, 1u);
    EXPECT_THAT(step.required_nodes, ElementsAre("n2"));
}

TEST(Options, AStepAsksForGpusInItsOwnWayAndBindsThem) {
    const auto step_of = [](std::vector<std::string> words, std::vector<std::string> around = {}) {
        around.push_back("SLURM_JOB_ID=7");
        return step_spec(parse(Command::Srun, std::move(words), std::move(around)).request, false);
    };
    model::StepSpec step = step_of({"-N2", "-n4", "--gpus-per-task=2"});
    EXPECT_EQ(model::to_string(step.gpus_per_task), "gpu:2");
    EXPECT_EQ(step.gpu_bind, "per_task:2");
    step = step_of({"-n4", "--ntasks-per-gpu=2", "--gpu-bind=verbose"});
    EXPECT_EQ(model::to_string(step.gpus_per_step), "gpu:2");
    EXPECT_EQ(step.gpu_bind, "verbose,single:2");
    step = step_of({"-n4", "--gpus-per-task=1", "--gpu-bind=none"});
    EXPECT_EQ(step.gpu_bind, "none");
    // What the job asked for in all is no request of each of its steps.
    step = step_of({"-n1"}, {"SLURM_GPUS=4"});
    EXPECT_TRUE(step.gpus_per_step.empty());
    EXPECT_EQ(step.gpu_bind, "");
    EXPECT_EQ(model::to_string(step_of({"--gpus=3"}).gpus_per_step), "gpu:3");
    EXPECT_TRUE(step_of({"--gres=none"}).gres_none);
    // None of its job's cards, and of the rest what it says.
    EXPECT_TRUE(step_of({"--gres=gpu:0"}).gres_none);
    EXPECT_TRUE(step_of({"--gres=gpu:a100:0"}).gres_none);
    step = step_of({"--gres=gpu:0,dongle:2"});
    EXPECT_FALSE(step.gres_none);
    EXPECT_EQ(model::to_string(step.gres_per_node), "dongle:2");
}

TEST(Options, GresCanBeAskedFor) {
    EXPECT_TRUE(parse(Command::Sbatch, {"--gres=help"}).request.ask.show_gres);
    EXPECT_TRUE(parse(Command::Srun, {"--gres=list"}).request.ask.show_gres);
    EXPECT_FALSE(parse(Command::Srun, {"--gres=gpu:1"}).request.ask.show_gres);
}

TEST(Options, FlagsOfGresAreWhatHappensAnywayOrRefused) {
    EXPECT_FALSE(
        parse(Command::Sbatch, {"--gres-flags=disable-binding,multiple-tasks-per-sharing"}).fault);
    EXPECT_EQ(parse(Command::Sbatch, {"--gres-flags=enforce-binding"}).fault->text,
              "--gres-flags=enforce-binding is not supported: cores near a job's cards are "
              "preferred, never required");
    EXPECT_EQ(parse(Command::Srun, {"--gres-flags=one-task-per-sharing"}).fault->text,
              "--gres-flags=one-task-per-sharing is not supported: shares of cards are asked for "
              "by node, not by task");
}

TEST(Options, VerboseListsWhatWasGiven) {
    const Parsed parsed = parse(Command::Sbatch, {"-v"}, {},
                                "#!/bin/sh\n#SBATCH --job-name=hello -N2 "
                                "--ntasks-per-node=1\n#SBATCH -o hello-%j.out -t 10\n");
    EXPECT_THAT(
        defined_options(parsed.request),
        ElementsAre("defined options", "-------------------- --------------------",
                    "job-name            : hello", "nodes               : 2",
                    "ntasks-per-node     : 1", "output              : /home/alice/hello-%j.out",
                    "time                : 00:10:00", "verbose             : 1",
                    "-------------------- --------------------", "end of defined options"));
}

TEST(Options, HelpNamesEverySupportedOptionAndFitsATerminal) {
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        const std::string help = help_text(command);
        for (const Option* option : all_options()) {
            if (!option->applies_to(command) || option->help.empty()) continue;
            EXPECT_THAT(help, HasSubstr(fmt::format("--{}", option->name)));
        }
        for (const std::string_view line : split(help, '\n')) EXPECT_LE(line.size(), 80u) << line;
        for (const std::string_view line : split(usage_text(command), '\n'))
            EXPECT_LE(line.size(), 80u) << line;
    }
}

}  // namespace
}  // namespace switchyard::options
