"""Cards on machines that have none: a library that answers like NVML, one that answers like the CUDA driver."""

import json
import os
import pathlib
import re
import shutil

import pytest

from world import bin_dir, is_root, wait_until

FAKES = bin_dir().parent / "fake"
pytestmark = pytest.mark.skipif(not (FAKES / "libnvidia-ml.so.1").exists(), reason=f"no fake libraries in {FAKES}")

CARD = "card NAME=Quadro RTX 4000;UUID=GPU-{0};MINOR={1};MEMORY=8192;CPUS={2};UTIL={3};USED=512;POWER={4}"
UUIDS = ["00000000-0000-0000-0000-000000000000", "01010101-0101-0101-0101-010101010101"]


def cards(*utils):
    return "driver 580.0\n" + "".join(
        CARD.format(UUIDS[i], i, "", util, 30000) + "\n" for i, util in enumerate(utils))


def counting(joules, *lines):
    """Two cards that count what they draw: the first has drawn so much since its driver was loaded, at 300 W now."""
    energy = f";ENERGY={1000 * joules}\n", ";ENERGY=7\n"
    return "driver 580.0\n" + "".join(
        CARD.format(uuid, i, "", 50, 300000) + energy[i] for i, uuid in enumerate(UUIDS)) + "".join(lines)


def live(cluster, job, field="ConsumedEnergyRaw"):
    """A field of each running step of a job, by the step's name."""
    said = cluster.run(f"sstat -a -n -P -j {job} -o JobID,{field}", user=None).out
    return dict(line.split("|") for line in said.splitlines())


def gpu_cluster(make_cluster, world=None, gres="gpu:Quadro_RTX_4000:2,shard:Quadro_RTX_4000:128", conf="AutoDetect=nvml\n",
                extra="", name="n1", daemon_env=None, cgroup="", **options):
    """One node, its cards as `world` says. Devices are not constrained: there are no files behind these cards."""
    cluster = make_cluster(
        nodes=f"NodeName={name} NodeHostname={{host}} CPUs=8 RealMemory=4000 {'Gres=' + gres if gres else ''}\n"
              f"PartitionName=debug Nodes={name} Default=YES MaxTime=INFINITE State=UP\n",
        extra=extra, names=[name], start=False,
        beside={"gres.conf": conf, "cgroup.conf": "ConstrainDevices=no\n" + cgroup},
        daemon_env={"LD_LIBRARY_PATH": str(FAKES), "FAKE_NVML": "{dir}/nvml", **(daemon_env or {})})
    say(cluster, world if world is not None else cards(0, 0))
    return cluster.start() if options.get("start", True) else cluster


def say(cluster, world):
    """Changes what the fake NVML answers, in one stroke: the agent may read at any time."""
    fresh = cluster.dir / "nvml.new"
    fresh.write_text(world)
    fresh.rename(cluster.dir / "nvml")


@pytest.fixture(scope="module")
def gpus():
    from cluster import Cluster
    made = []

    def make(**options):
        made.append(Cluster(**options))
        return made[-1]

    yield gpu_cluster(make)
    made[0].stop()


def env_of(cluster, name):
    return dict(line.split("=", 1) for line in cluster.read(name).splitlines() if "=" in line)


def children_of(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pid_in(path):
    text = pathlib.Path(path).read_text() if os.path.exists(path) else ""
    return int(text) if text.strip() else None


def end_family(pid):
    for each in [*children_of(pid), pid]:
        os.kill(each, 9)


def job_env(cluster, options, script="env"):
    job = cluster.wrap(script, f"-o out-%j {options}")
    assert cluster.wait_end(job, timeout=60) == "COMPLETED", cluster.read(f"out-{job}")
    return env_of(cluster, f"out-{job}")


# --- discovery -----------------------------------------------------------------------------------------------

def test_cards_are_found_and_shown(make_cluster):
    cluster = gpu_cluster(make_cluster, gres="")
    shown = cluster.run("scontrol -d show node n1", user=None).ok().out
    assert "Gres=gpu:Quadro_RTX_4000:2\n" in shown
    assert "GresUsed=gpu:Quadro_RTX_4000:0(IDX:N/A)\n" in shown
    assert "gres/gpu=2,gres/gpu:quadro_rtx_4000=2" in shown.lower()
    said = cluster.run(f"slurmd -G -N n1 -f {cluster.conf}", user=None, env=cluster.daemon_env).ok().out
    assert said.splitlines()[1] == (
        "slurmd: Gres Name=gpu Type=Quadro_RTX_4000 Count=1 Index=1 File=/dev/nvidia1 "
        f"UniqueId=GPU-{UUIDS[1]}")
    env = job_env(cluster, "--gres=gpu:Quadro_RTX_4000:1")
    assert env["CUDA_VISIBLE_DEVICES"] == "0"


def test_an_agent_is_stopped_in_order_though_the_driver_has_a_thread(make_cluster):
    cluster = gpu_cluster(make_cluster)
    (agent,) = cluster.agents.values()
    agent.terminate()
    assert agent.wait(60) == 0  # Not -15: the signal is for the agent, not for the driver's thread.


def test_the_seeds_view_of_cards_and_shares(make_cluster):
    cluster = gpu_cluster(make_cluster, name="control118")
    first = cluster.wrap("sleep 300", "--gres=gpu:1")
    cluster.wait_state(first, "RUNNING")
    second = cluster.wrap("sleep 300", "--gres=shard:32")
    cluster.wait_state(second, "RUNNING")
    said = cluster.run("sinfo --all --Node --Format=NodeList,Gres:60,GresUsed:100").ok().out
    assert [line.rstrip() for line in said.splitlines()] == [
        "NODELIST            GRES                                                        GRES_USED",
        "control118          gpu:Quadro_RTX_4000:2,shard:Quadro_RTX_4000:128             "
        "gpu:Quadro_RTX_4000:1(IDX:0),shard:Quadro_RTX_4000:32(0/64,32/64)"]


def test_cards_other_than_configured_drain_the_node(make_cluster):
    cluster = gpu_cluster(make_cluster, gres="gpu:Quadro_RTX_4000:3")
    node = cluster.node("n1")
    assert node["State"] == "IDLE+DRAIN"
    assert node["Reason"].startswith(
        "gres/gpu: configured gpu:Quadro_RTX_4000:3 but found gpu:Quadro_RTX_4000:2 [slurm@")


def test_device_files_that_are_not_there_drain_the_node(make_cluster):
    cluster = gpu_cluster(make_cluster, gres="gpu:2", conf="Name=gpu File=/dev/null,/dev/nothing9\n")
    assert cluster.node("n1")["Reason"].startswith("gres/gpu: configured gpu:2 but found no /dev/nothing9 [slurm@")


def test_slices_of_a_card_are_cards_of_their_own(make_cluster):
    world = ("driver 580.0\ncard NAME=NVIDIA H200;UUID=GPU-a;MINOR=0;MEMORY=140000;UTIL=0;USED=0;POWER=1\n"
             "slice 0 1g.18gb MIG-1 18000 7 0\nslice 0 1g.18gb MIG-2 18000 8 0\nslice 0 3g.71gb MIG-3 71000 2 0\n")
    cluster = gpu_cluster(make_cluster, world=world, gres="gpu:1g.18gb:2,gpu:3g.71gb:1")
    assert "Gres=gpu:1g.18gb:2,gpu:3g.71gb:1\n" in cluster.run("scontrol show node n1", user=None).ok().out
    small = cluster.wrap("sleep 300", "--gres=gpu:1g.18gb:2")
    cluster.wait_state(small, "RUNNING")
    waiting = cluster.wrap("true", "--gres=gpu:1g.18gb:1")
    env = job_env(cluster, "--gres=gpu:3g.71gb:1")
    assert env["CUDA_VISIBLE_DEVICES"] == "MIG-3" and env["SLURM_JOB_GPUS"] == "2"
    assert cluster.show(waiting)["JobState"] == "PENDING"
    cluster.run(f"scancel {small}").ok()
    assert cluster.wait_end(waiting, timeout=60) == "COMPLETED"


# --- grants --------------------------------------------------------------------------------------------------

def test_a_job_is_told_its_cards(gpus):
    env = job_env(gpus, "--gres=gpu:2")
    assert env["CUDA_VISIBLE_DEVICES"] == env["GPU_DEVICE_ORDINAL"] == env["SLURM_JOB_GPUS"] == "0,1"
    assert env["SLURM_GPUS_ON_NODE"] == "2"
    assert "SWITCHYARD_GUARD" not in env
    env = job_env(gpus, "--gres=shard:16")
    assert env["SLURM_SHARDS_ON_NODE"] == "16" and env["SLURM_GPUS_ON_NODE"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in job_env(gpus, "--gres=none")


def test_all_tasks_see_the_grant_unless_they_are_bound(gpus):
    def seen(options, command="srun --label"):
        job = gpus.wrap(f"{command} sh -c 'echo $CUDA_VISIBLE_DEVICES'", f"-o out-%j {options}")
        assert gpus.wait_end(job, timeout=60) == "COMPLETED", gpus.read(f"out-{job}")
        return sorted(gpus.read(f"out-{job}").splitlines())

    assert seen("-n2 --gres=gpu:2") == ["0: 0,1", "1: 0,1"]
    assert seen("-n2 --gpus-per-task=1") == ["0: 0", "1: 1"]
    assert seen("-n2 --gpus-per-task=1", "srun --label --gpu-bind=none") == ["0: 0,1", "1: 0,1"]
    assert seen("--gpus=2 --ntasks-per-gpu=2") == ["0: 0", "1: 0", "2: 1", "3: 1"]
    assert seen("-n2 --gres=gpu:2", "srun --label --gpu-bind=map_gpu:1,0") == ["0: 1", "1: 0"]
    assert seen("-n2 --gres=gpu:2", "srun --label --gpu-bind=mask_gpu:0x3,0x2") == ["0: 0,1", "1: 1"]
    lines = seen("-n2 --gres=gpu:2", "srun --label --gpu-bind=verbose,single:1")
    assert "1: 1" in lines and any("gpu-bind: usable_gres=0x2; bit_alloc=0x3" in line for line in lines)


def test_steps_share_the_cards_of_their_job(gpus):
    # Each of the two waits for the other, so that they run side by side.
    meet = 'echo {0} $SLURM_STEP_GPUS; touch {0}; until [ -e {1} ]; do sleep 0.1; done'
    gpus.write("meet", "#!/bin/sh\nrm -f a b\n"
               f"srun -n1 --exact --gres=gpu:1 sh -c '{meet.format('a', 'b')}' &\n"
               f"srun -n1 --exact --gres=gpu:1 sh -c '{meet.format('b', 'a')}' &\nwait\n"
               "srun -n1 --gres=none sh -c 'echo c $CUDA_VISIBLE_DEVICES-'\n"
               "srun -n1 --overlap sh -c 'echo d $SLURM_STEP_GPUS'\n"
               "srun -n1 --gres=gpu:0 sh -c 'echo e $CUDA_VISIBLE_DEVICES-'\n", mode=0o755)
    said = gpus.run("salloc -n4 --gres=gpu:2 ./meet", timeout=120).ok().out
    lines = sorted(said.splitlines())
    assert {lines[0], lines[1]} in ({"a 0", "b 1"}, {"a 1", "b 0"})
    assert lines[2:] == ["c -", "d 0,1", "e -"]


def test_gres_can_be_asked_for(gpus):
    for command in ("sbatch", "salloc", "srun"):
        said = gpus.run(f"{command} --gres=help").ok().out
        assert said == "Valid gres options are:\ngpu[[:type]:count]\nshard[[:type]:count]\n"


def test_a_step_can_open_only_the_cards_it_was_granted(make_cluster):
    """Two harmless devices stand for cards."""
    cluster = make_cluster(
        nodes="NodeName=n1 NodeHostname={host} CPUs=8 RealMemory=4000 Gres=gpu:2\n"
              "PartitionName=debug Nodes=n1 Default=YES MaxTime=INFINITE State=UP\n",
        names=["n1"], beside={"gres.conf": "Name=gpu File=/dev/full,/dev/zero\n"})
    if "devices cannot be constrained" in (cluster.dir / "log" / "agent-n1.log").read_text() or \
            "Containment=none" in cluster.run("scontrol -d show node n1", user=None).out:
        pytest.skip("devices cannot be constrained here")
    look = 'for d in full zero; do (: < /dev/$d) 2>/dev/null && echo $d; done; echo see $CUDA_VISIBLE_DEVICES'

    def opened(options, script=look):
        job = cluster.wrap(script, f"-o out-%j {options}")
        assert cluster.wait_end(job, timeout=60) == "COMPLETED", cluster.read(f"out-{job}")
        return cluster.read(f"out-{job}").split()

    assert opened("") == ["see"]
    assert opened("--gres=gpu:1") == ["full", "see", "0"]
    assert opened("--gres=gpu:2") == ["full", "zero", "see", "0,1"]
    step = f"srun -n1 --exact --gres=gpu:1 sh -c '{look}'; srun -n1 --gres=none sh -c '{look}'"
    assert opened("-n2 --gres=gpu:2", step) == ["full", "see", "0", "see"]


@pytest.mark.parametrize("options, message", [
    ("--gres=gpu:3", "Batch job submission failed: Requested node configuration is not available"),
    ("--gpus=3", "Batch job submission failed: Requested node configuration is not available"),
    ("--gres=gpu:h200:1", "Batch job submission failed: Requested node configuration is not available"),
    ("--gres=shard:129", "Batch job submission failed: Requested node configuration is not available"),
    ("--gres=gpu:1,shard:1", "sbatch: error: Invalid generic resource (gres) specification"),
    ("--gpus=1 --gres=shard:1", "sbatch: error: Invalid generic resource (gres) specification"),
    ("--gres=gpu:0", "Invalid generic resource (gres) specification"),
    ("--gres=gpu:-1", "Invalid generic resource (gres) specification"),
    ("--gres=gpu:99999999999999999999", "Invalid generic resource (gres) specification"),
    ("--gpu-freq=high", "--gpu-freq"),
])
def test_bad_requests_are_refused_and_nothing_is_queued(gpus, options, message):
    before = gpus.run("squeue -h -t all", user=None).out
    said = gpus.run(f"sbatch {options} --wrap true")
    assert said.code == 1 and message in said.err, repr(said)
    assert gpus.run("squeue -h -t all", user=None).out == before


# --- shares --------------------------------------------------------------------------------------------------

def test_a_shard_job_is_held_to_its_share(gpus):
    shown = gpus.run("scontrol show node n1", user=None).ok().out
    assert "GresProtection=shard:guard\n" in shown
    assert "shard:guard" in gpus.run("sinfo -h -N -O NodeList,GresProtection:20", user=None).ok().out
    probe = (f"LD_LIBRARY_PATH={FAKES} FAKE_NVML={gpus.dir}/nvml FAKE_MEMORY_MIB=8192 "
             f"{FAKES}/guard_probe info alloc 1000 alloc 1500 alloc 600")
    job = gpus.wrap(probe, "-o shares-%j --gres=shard:16")
    assert gpus.wait_end(job, timeout=60) == "COMPLETED", gpus.read(f"shares-{job}")
    lines = gpus.read(f"shares-{job}").splitlines()
    # A quarter of 8192 MiB, less what the driver itself takes of it for the process.
    assert re.fullmatch(r"info \d+ of 2048 device 2048", lines[0]), lines
    assert lines[1:] == ["alloc ok", "alloc error 2", "alloc ok"], lines
    whole = gpus.wrap(probe, "-o shares-%j --gres=gpu:1")
    assert gpus.wait_end(whole, timeout=60) == "COMPLETED"
    assert gpus.read(f"shares-{whole}").splitlines() == ["info 8192 of 8192 device 8192"] + 3 * ["alloc ok"]


def test_shares_that_are_not_kept_are_said_to_be_so(make_cluster):
    cluster = gpu_cluster(make_cluster, conf="AutoDetect=nvml\nName=shard Count=128 Flags=unprotected\n")
    assert "GresProtection=shard:none\n" in cluster.run("scontrol show node n1", user=None).ok().out
    assert "LD_PRELOAD" not in job_env(cluster, "--gres=shard:16")


def test_the_driver_itself_keeps_shares_where_it_can(make_cluster):
    """Drivers from r615 on limit what a cgroup holds of a card."""
    # A stepd gets little of its agent's environment: its library has the answers beside it.
    cluster = gpu_cluster(make_cluster, world=cards(0, 0) + "limits\n", cgroup="CgroupPlugin=cgroup/v2\n", start=False,
                          daemon_env={"LD_LIBRARY_PATH": "{dir}"})
    shutil.copy(FAKES / "libnvidia-ml.so.1", cluster.dir)
    cluster.start()
    if not is_root() or "Containment=cgroup/v2" not in cluster.run("scontrol -d show node n1", user=None).out:
        pytest.skip("needs root and cgroup v2")
    assert "GresProtection=shard:dmem\n" in cluster.run("scontrol show node n1", user=None).ok().out
    job = cluster.wrap("cat /proc/self/cgroup; srun --overlap true; env", "-o out-%j --gres=shard:16")
    assert cluster.wait_end(job, timeout=60) == "COMPLETED", cluster.read(f"out-{job}")
    said = cluster.read(f"out-{job}")
    card, limit, cgroup = (cluster.dir / "nvml.limits").read_text().splitlines()[-1].split()
    # A quarter of 8192 MiB, for the whole job: its steps stand below.
    assert (card, int(limit)) == ("0", 2048 << 20)
    assert re.search(rf"^0::\S*/{os.path.basename(cgroup)}/", said, re.M), (cgroup, said)
    assert f"card0.turns,{2048 << 20}" in said
    # The driver has lost it since: a share that cannot be kept is not given.
    say(cluster, cards(0, 0))
    job = cluster.wrap("touch ran", "--gres=shard:16")
    wait_until(lambda: f"memory limit of GPU-{UUIDS[0]}" in cluster.run(f"scontrol show job {job}").out, 60, "the reason")
    assert not (cluster.home("alice") / "ran").exists()


def test_mps_daemons_are_started_and_watched(make_cluster):
    cluster = gpu_cluster(make_cluster, gres="gpu:Quadro_RTX_4000:2,mps:200", start=False,
                          extra="GresTypes=gpu,mps\n")
    (cluster.dir / "bin").mkdir()
    control = cluster.dir / "bin" / "nvidia-cuda-mps-control"
    control.write_text(f'#!/bin/sh\n# knows: multiuser-server\necho "$* $CUDA_VISIBLE_DEVICES" >> {cluster.dir}/mps.log\n'
                       # Like the real one it has a child, and neither of the two goes at a word.
                       "trap '' TERM\nsleep 1000 &\nwhile :; do wait; done\n")
    control.chmod(0o755)
    cluster.start()
    assert "GresProtection=mps:mps\n" in cluster.run("scontrol show node n1", user=None).ok().out
    log = cluster.dir / "mps.log"
    wait_until(lambda: log.exists() and len(log.read_text().splitlines()) == 2, 30, "two daemons")
    # One server for all users, which only root can have.
    options = "-f -multiuser-server" if os.geteuid() == 0 else "-f"
    assert set(log.read_text().splitlines()) == {f"{options} GPU-{uuid}" for uuid in UUIDS}
    env = job_env(cluster, "--gres=mps:25")
    assert env["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"
    assert env["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] == "0=2048M"
    folder = os.path.dirname(env["CUDA_MPS_PIPE_DIRECTORY"])
    assert os.stat(env["CUDA_MPS_PIPE_DIRECTORY"]).st_mode & 0o1777 == 0o1777
    first = pid_in(f"{folder}/mps0.pid")
    end_family(first)
    wait_until(lambda: len(log.read_text().splitlines()) == 3, 30, "the daemon to be started again")
    # The job's step is forgotten when the controller has its end.
    wait_until(lambda: not list((cluster.dir / "spool" / "n1").glob("[0-9]*.sock")), 30, "the step to be forgotten")
    wait_until(lambda: pid_in(f"{folder}/mps0.pid") not in (None, first), 30, "the new daemon's pid")
    left = {pid_in(f"{folder}/mps{i}.pid") for i in (0, 1)}
    left |= {child for pid in left for child in children_of(pid)}
    os.kill(cluster.agents["n1"].pid, 15)
    wait_until(lambda: not os.path.exists(folder), 30, "the daemons' folder to be removed")
    wait_until(lambda: not any(is_alive(pid) for pid in left), 30, "the daemons and their children to be gone")


def test_a_control_daemon_that_knows_one_user_only_is_asked_for_no_more(make_cluster):
    cluster = gpu_cluster(make_cluster, gres="gpu:Quadro_RTX_4000:2,mps:200", start=False,
                          extra="GresTypes=gpu,mps\n")
    (cluster.dir / "bin").mkdir()
    control = cluster.dir / "bin" / "nvidia-cuda-mps-control"
    control.write_text(f'#!/bin/sh\necho "$*" >> {cluster.dir}/mps.log\nexec sleep 1000\n')
    control.chmod(0o755)
    cluster.start()
    log = cluster.dir / "mps.log"
    wait_until(lambda: log.exists() and log.read_text().splitlines() == ["-f", "-f"], 30, "two daemons")
    assert "serves one user at a time" in (cluster.dir / "log" / "agent-n1.log").read_text()


# --- watched -------------------------------------------------------------------------------------------------

def test_what_cards_do_is_seen_and_idle_ones_are_flagged(make_cluster):
    cluster = gpu_cluster(make_cluster, world=cards(93, 0), extra="SwitchyardGpuSampleTime=1\nSwitchyardGpuIdleTime=2\n"
                          "SwitchyardGpuIdlePercent=5\nSwitchyardGpuIdleAction=mail\n")
    wait_until(lambda: "GpuUse=0:93%,512M,30W;1:0%,512M,30W\n"
               in cluster.run("scontrol -d show node n1", user=None).out, 30, "the use of the cards")
    busy = cluster.wrap("sleep 300", "--gres=gpu:1")
    cluster.wait_state(busy, "RUNNING")
    idle = cluster.wrap("sleep 300", "--gres=gpu:1")

    def reason(job):
        return cluster.run(f"squeue -h -j {job} -o %r", user=None).out.strip()

    wait_until(lambda: reason(idle) == "GpuIdle", 60, "the idle job to be flagged")
    assert reason(busy) == "None"
    mails = cluster.dir / "mail.log"
    wait_until(lambda: f"Slurm Job_id={idle} Name=wrap GPUs idle" in mails.read_text(), 30, mails.read_text)
    say(cluster, cards(93, 50))
    wait_until(lambda: reason(idle) == "None", 60, "the flag to go")


def test_what_a_job_did_with_its_cards_is_told_at_its_end(make_cluster):
    cluster = gpu_cluster(make_cluster, world=cards(93, 0), extra="SwitchyardGpuSampleTime=1\n")
    job = cluster.wrap("while [ ! -e over ]; do sleep 0.2; done", "--gres=gpu:1 --mail-type=END")
    cluster.wait_state(job, "RUNNING")
    # A look that shows this was made while the job ran.
    say(cluster, cards(94, 0))
    wait_until(lambda: "GpuUse=0:94%" in cluster.run("scontrol -d show node n1", user=None).out, 30, "a look at the cards")
    cluster.write("over", "")
    assert cluster.wait_end(job, timeout=60) == "COMPLETED"
    log = cluster.dir / "mail.log"
    wait_until(lambda: log.exists() and re.search(r"COMPLETED, ExitCode 0, GPU use 9[34]%, memory 512M", log.read_text()),
               30, lambda: f"the mail: {log.read_text() if log.exists() else ''}")
    used = cluster.run(f"sacct -n -P -j {job}.batch -o TRESUsageInMax,TRESUsageInAve", user=None).ok().out.strip()
    assert re.search(r"gres/gpumem=512M,gres/gpupower=30,gres/gpuutil=9[34]", used), used
    said = cluster.run(f"seff {job}", user=None).ok().out
    assert re.search(r"GPU Efficiency: \d+\.\d\d% of 1 GPU\nGPU Memory Utilized: 512.00 MB\n", said), said


def test_what_the_cards_of_a_job_drew_is_counted_once(make_cluster):
    """Every figure is worked out from the card's own counter, which stands still but for what is said here."""
    cluster = gpu_cluster(make_cluster, world=counting(1000), extra="SwitchyardGpuSampleTime=1\n")
    until = "while [ ! -e {} ]; do sleep 0.1; done"
    job = cluster.wrap(f"{until.format('go')}; srun --overlap sh -c '{until.format('over')}'", "--gres=gpu:1 --mail-type=END")
    batch, step = f"{job}.batch", f"{job}.0"
    # Seen once: from here on it is counted.
    wait_until(lambda: "energy=0" in live(cluster, job, "TRESUsageInTot").get(batch, ""), 60, "the first look")
    say(cluster, counting(3000))
    wait_until(lambda: live(cluster, job).get(batch) == "2000", 60, lambda: f"the script's energy: {live(cluster, job)}")
    assert live(cluster, job, "ConsumedEnergy") == {batch: "2K"}
    cluster.write("go", "")
    wait_until(lambda: "energy=0" in live(cluster, job, "TRESUsageInTot").get(step, ""), 60, "the first look at the step")
    say(cluster, counting(4500))
    wait_until(lambda: live(cluster, job) == {batch: "2000", step: "1500"}, 60, lambda: f"{live(cluster, job)}")
    # A new agent, and what was drawn while there was none.
    cluster.agents["n1"].kill()
    cluster.agents["n1"].wait()
    say(cluster, counting(5500))
    cluster.start_agent("n1")
    wait_until(lambda: live(cluster, job) == {batch: "2000", step: "2500"}, 60, lambda: f"{live(cluster, job)}")
    cluster.write("over", "")
    assert cluster.wait_end(job, timeout=60) == "COMPLETED"

    def history(fields, options=""):
        return cluster.run(f"sacct -n -P -j {job} {options} -o {fields}", user=None).ok().out.splitlines()

    assert history("JobID,ConsumedEnergyRaw,ConsumedEnergy") == [
        f"{job}|4500|4.50K", f"{batch}|2000|2K", f"{step}|2500|2.50K"]
    assert history("ConsumedEnergyRaw,AllocTRES", "-X")[0].startswith("4500|billing=1,cpu=1,energy=4500,")
    total, most = history("TRESUsageInTot,TRESUsageInMax")[2].split("|")
    assert "energy=2500" in total and "gres/gpupower=300," in most
    document = json.loads(cluster.run(f"sacct -j {job} --json", user=None).ok().out)["jobs"][0]
    assert [each["statistics"]["energy"]["consumed"]["number"] for each in document["steps"]] == [2000, 2500]
    assert {"type": "energy", "name": "", "id": 3, "count": 4500} in document["tres"]["allocated"]
    seconds = int(history("ElapsedRaw")[0])
    said = cluster.run(f"seff {job}", user=None).ok().out
    assert f"GPU Energy: 4500 J\nGPU Power: {4500 / seconds:.2f} W average, 300 W maximum\n" in said, said
    log = cluster.dir / "mail.log"
    wait_until(lambda: log.exists() and re.search(r"memory 512M, power \d+W, energy 4500J", log.read_text()),
               30, lambda: f"the mail: {log.read_text() if log.exists() else ''}")


def test_jobs_on_one_card_divide_what_it_drew(make_cluster):
    cluster = gpu_cluster(make_cluster, world=counting(0), extra="SwitchyardGpuSampleTime=1\n")
    jobs = [cluster.wrap("echo $$ > pid-$SLURM_JOB_ID; while :; do sleep 1; done", f"--gres=shard:{share}") for share in (16, 32)]

    def drawn():
        return [live(cluster, job).get(f"{job}.batch") for job in jobs]

    for job in jobs:
        wait_until(lambda: "energy=0" in live(cluster, job, "TRESUsageInTot").get(f"{job}.batch", ""), 60, "the first look")
    # Nobody is on the card: each has its share of it, and a quarter is nobody's.
    say(cluster, counting(6400))
    wait_until(lambda: drawn() == ["1600", "3200"], 60, lambda: f"the shares: {drawn()}")
    pids = [cluster.read(f"pid-{job}").strip() for job in jobs]
    say(cluster, counting(14400, f"process 0 {pids[0]} 100 60\n", f"process 0 {pids[1]} 100 20\n"))
    wait_until(lambda: drawn() == ["7600", "5200"], 60, lambda: f"by what they used: {drawn()}")
    cluster.run(f"scancel {jobs[0]} {jobs[1]}").ok()


def test_a_site_may_let_idle_jobs_be_cancelled(make_cluster):
    cluster = gpu_cluster(make_cluster, extra="SwitchyardGpuSampleTime=1\nSwitchyardGpuIdleTime=1\n"
                          "SwitchyardGpuIdleAction=cancel\n")
    job = cluster.wrap("sleep 300", "--gres=shard:8")
    assert cluster.wait_end(job, timeout=60) == "CANCELLED"
    assert cluster.show(job)["Reason"] == "GpuIdle"


@pytest.mark.parametrize("line, reason", [("xid 1 79", "gres/gpu 1: XID 79"), ("lost 0", "gres/gpu 0: GPU is lost")])
def test_a_card_that_fails_drains_its_node(make_cluster, line, reason):
    cluster = gpu_cluster(make_cluster, extra="SwitchyardGpuSampleTime=1\n")
    assert cluster.node("n1")["State"] == "IDLE"
    say(cluster, cards(0, 0) + line + "\n")
    wait_until(lambda: "DRAIN" in cluster.node("n1")["State"], 30, "the node to be drained")
    assert cluster.node("n1")["Reason"].startswith(reason + " [slurm@")
