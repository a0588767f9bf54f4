"""snakemake with its slurm executor: a workflow of three rules, each a job."""

SNAKEFILE = """\
    rule all:
        input: "total.txt"

    rule make:
        output: "part{n}.txt"
        shell: "echo {wildcards.n} > {output}"

    rule double:
        input: "part{n}.txt"
        output: "double{n}.txt"
        shell: "awk '{{print 2 * $1}}' {input} > {output}"

    rule total:
        input: "double1.txt", "double2.txt"
        output: "total.txt"
        shell: "cat {input} | paste -sd+ | bc > {output} || awk '{{s += $1}} END {{print s}}' {input} > {output}"
"""


def test_three_rules_run_as_jobs(cluster, tools):
    cluster.write("flow/Snakefile", SNAKEFILE)
    # Jobs of snakemake drop every SLURM_ variable, SLURM_CONF too, and find the cluster as on any site.
    cluster.write(".switchyard/slurm.conf", f"Include {cluster.conf}\n")
    said = cluster.run(
        f"{tools}/bin/snakemake --executor slurm --jobs 4 --latency-wait 60 --seconds-between-status-checks 1 "
        "--slurm-init-seconds-before-status-checks 1 --default-resources slurm_partition=debug slurm_account=users "
        "mem_mb=200 runtime=10 --nocolor",
        cwd=cluster.home() / "flow", timeout=500, env={"PATH": f"{tools}/bin:{cluster.path()}"})
    said.ok()
    assert cluster.read("flow/total.txt").strip() == "6", repr(said)
    assert said.err.count("has been submitted with SLURM jobid") == 5, repr(said)
