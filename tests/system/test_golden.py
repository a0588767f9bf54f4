"""The same command lines as a real Slurm was asked, compared to the character: with its answers where they stand beside the
checkout, else with ours of a time when they were the same (expected/)."""

import re

import pytest

from busy_scene import ACCOUNT
from golden import environment, keep, mask, names_of, reference

# Files that are not asked for by their command line alone: test_golden_scenes.py builds their scenes, or see
# test_golden_files.py for why they are left out.
STAGED = {"job-timeout-output", "job-timeout-output-srun-step", "job-cancelled-output", "job-cancelled-output-srun-step",
          "srun-cancelled", "srun-sigint-twice", "srun-timeout", "batch-with-failing-steps", "sacct-unknown-job",
          "sbatch-account-not-mine"}


def names(folder):
    return [name for name in names_of(folder) if name not in STAGED]


def prepare(cluster):
    cluster.write("job.sh", """\
        #!/bin/bash
        #SBATCH --job-name=hello
        #SBATCH --nodes=2
        #SBATCH --ntasks-per-node=1
        #SBATCH --time=10
        #SBATCH --output=hello-%j.out
        srun hostname
        """)
    cluster.write("badopt.sh", "#!/bin/sh\n#SBATCH --nosuch=1\ntrue\n")
    cluster.write("dos.sh", "#!/bin/sh\r\ntrue\r\n")
    cluster.write("noshebang.sh", "echo no\n")
    cluster.run("scancel --me")


@pytest.mark.parametrize("name", names("errors"))
def test_errors(cluster, name):
    prepare(cluster)
    compare(cluster, "errors", name)


@pytest.fixture(scope="module")
def strict():
    from cluster import Cluster
    made = Cluster(extra="EnforcePartLimits=ALL\n")
    yield made
    made.stop()


@pytest.mark.parametrize("name", names("errors-enforce"))
def test_errors_where_the_site_enforces(strict, name):
    prepare(strict)
    compare(strict, "errors-enforce", name)


def one_line_each(text):
    """Tasks of a node that end alike are reported in one line where they end together: on a busy machine in several."""
    lines, tasks = [], {}
    for line in text.splitlines():
        told = re.match(r"(srun: error: \w+): tasks? ([\d,-]+): (.*)", line)
        if not told:
            lines.append(line)
        elif told.group(1, 3) in tasks:
            tasks[told.group(1, 3)].append(told[2])
        else:
            tasks[told.group(1, 3)] = [told[2]]
    for (node, what), parts in tasks.items():
        numbers = {n for part in ",".join(parts).split(",")
                   for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
        lines.append(f"{node}: {sorted(numbers)}: {what}")
    return lines


def compare(cluster, folder, name):
    want = reference(folder, name)
    got = cluster.run(want.command)
    home = cluster.home()
    order = sorted if name in UNORDERED else list
    assert order(one_line_each(mask(got.err, home))) == order(one_line_each(mask(want.err, home)))
    assert mask(got.out, home) == mask(want.out, home)
    assert got.code == want.code
    keep(folder, name, want.command, mask(got.out, home), mask(got.err, home), got.code)


# Files whose lines come in an order of their own.
UNORDERED = {"srun-exit-multinode", "srun-N4-label", "srun-n4-label", "srun-multiprog", "salloc"}


# What is the machine's in single files: a terminal, a port, how large an environment is.
OWN = {
    "srun-pty": [(r"\^@", ""), (r"/dev/pts/\d+", "/dev/pts/#"), (r"PORT=\d+", "PORT=#"), (r"\r", ""),
                 # A terminal of no size gets the usual one here.
                 (r"(?m)^\d+ \d+$", "SIZE"), (r"SLURM_PTY_WIN_\w+=\d+\n?", "")],
    "sbatch-export-none": [(r"(?m)^\d+$", "#")],
    "srun-output-per-task": [(r"out\.(\d)\.\d+", r"out.\1.ID")],
    "sbatch-output-patterns": [(r"pat-pat-\d+", "pat-pat-ID")],
}


def masked(name, text):
    text = mask(text)
    for pattern, word in OWN.get(name, []):
        text = re.sub(pattern, word, text)
    return text


@pytest.mark.parametrize("name", names("submit"))
def test_submissions(cluster, name):
    prepare(cluster)
    want = reference("submit", name)
    got = cluster.run(want.command)
    host = cluster.run("hostname").out.strip()
    order = sorted if name in UNORDERED else list
    want_out = re.sub(r"\bvm\b", host, masked(name, want.out))
    assert order(masked(name, got.out).splitlines()) == order(want_out.splitlines())
    assert mask(got.err, cluster.home()) == mask(want.err)
    assert got.code == want.code
    keep("submit", name, want.command, re.sub(rf"\b{host}\b", "vm", masked(name, got.out)), mask(got.err, cluster.home()), got.code)


# What the real one had from the shell that started it.
NOT_OWED = {"CUDA_HOME", "OLDPWD"}
# Set in both, to what is the job's, the moment's or the machine's own.
CHANGES = re.compile(r"_PID$|^SLURM_(ARRAY_)?JOB_?ID$|_TIME$|_PORT$|IPADDR$|COMM_HOST$|SUBMIT_(DIR|HOST)$|^PWD$|^TMPDIR$|^SLURM_CONF$|"
                     r"SLUID$|CLUSTER_NAME$|PRIO_PROCESS$")


def check_environment(text, name):
    want = environment(name)
    got = dict(line.split("=", 1) for line in text.splitlines() if re.match(r"\w+=", line))
    missing = [k for k in want if k not in got and k not in NOT_OWED]
    assert not missing, f"not set: {missing}"
    wrong = {k: (got[k], v) for k, v in want.items()
             if k in got and k not in NOT_OWED and not CHANGES.search(k) and got[k] != v}
    assert not wrong, f"(ours, theirs): {wrong}"
    owed = sorted((k, "#" if CHANGES.search(k) else v) for k, v in want.items() if k not in NOT_OWED)
    keep("env", name, "env | sort", "".join(f"{k}={v}\n" for k, v in owed), "", 0)


@pytest.mark.parametrize("name,options", [
    ("batch-plain", ""),
    ("batch-gpu", "--gres=gpu:1 --partition=gpu --cpus-per-task=2 --mem=500 -J envgpu"),
    ("batch-gpus-per-node", "-N2 --gpus-per-node=2"),
    ("batch-shard", "--gres=shard:16"),
])
def test_environment_of_a_batch_script(cluster, name, options):
    job_name = environment(name)["SLURM_JOB_NAME"]
    cluster.write(job_name, "#!/bin/bash\nenv | sort\n")
    job = cluster.sbatch(f"{options} -o env-{name}.out {job_name}", env=ACCOUNT)
    cluster.wait_end(job)
    check_environment(cluster.read(f"env-{name}.out"), name)


def test_environment_of_an_array_element(cluster):
    job = cluster.wrap("env | sort", "--array=3,7,9%2 -o env-arr-%a.out", env=ACCOUNT)
    cluster.wait_end(f"{job}_7")
    check_environment(cluster.read("env-arr-7.out"), "array-task")


def test_environment_of_steps(cluster):
    cluster.write("env-srun2.sh", "#!/bin/bash\nsrun bash -c 'env | sort > envstep-$SLURM_PROCID'\n")
    job = cluster.sbatch("--nodes=2 --ntasks-per-node=2 --gres=gpu:1 env-srun2.sh", env=ACCOUNT)
    assert cluster.wait_end(job) == "COMPLETED"
    for task in range(4):
        check_environment(cluster.read(f"envstep-{task}"), f"srun-2node-in-batch-task{task}")
    cluster.run("srun -N2 --ntasks-per-node=1 bash -c 'env | sort > envdirect-$SLURM_PROCID'", env=ACCOUNT).ok()
    for task in range(2):
        check_environment(cluster.read(f"envdirect-{task}"), f"srun-2node-direct-task{task}")


def test_environment_of_salloc(cluster):
    said = cluster.run("salloc -N2 --gres=gpu:1 bash -c 'env | sort'", env=ACCOUNT).ok()
    check_environment(said.out, "salloc-shell")
    said = cluster.run("salloc -N1 -n2 bash -c 'srun -n1 env | sort'", env=ACCOUNT).ok()
    check_environment(said.out, "salloc-srun")


COMPARES = {f"{folder}/{name}" for folder in ("errors", "errors-enforce", "submit") for name in names(folder)}
COMPARES |= {f"env/{name}" for name in (
    "batch-plain", "batch-gpu", "batch-gpus-per-node", "batch-shard", "array-task", "salloc-shell", "salloc-srun",
    *(f"srun-2node-in-batch-task{task}" for task in range(4)), *(f"srun-2node-direct-task{task}" for task in range(2)))}
