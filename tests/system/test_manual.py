"""The manual pages, option by option: what Slurm's commands know is known here, if only to be refused with a reason.

(The options of sbatch, salloc and srun are walked by options_test, which also writes docs/options.md.)"""

import pytest

# What each page lists; options that must be followed by something have a value that is good.
OPTIONS = {
    "scancel": "--account=a --batch --clusters=c --ctld --full --help --hurry --interactive --jobname=j --me --nodelist=n1 "
               "--partition=p --qos=q --quiet --reservation=r --sibling=s --signal=USR1 --state=PENDING --usage --user=root "
               "--verbose --version --wckey=w --cron",
    "sbcast": "--compress --exclude=/usr --fanout=4 --force --help --jobid=1 --no-allocation --nodelist=n1 --preserve "
              "--send-libs=yes --size=8m --timeout=9 --treewidth=4 --usage --verbose --version",
    "squeue": "--Format=jobid --account=a --all --array --clusters=c --expand-patterns --federation --format=%i --help --hide --jobs "
              "--json --licenses=l --local --long --me --name=n --noconvert --nodelist=n1 --noheader --notme --only-job-state "
              "--partition=p --priority --qos=q --reservation=r --running-over=1 --running-under=1 --sibling --sort=i --start "
              "--states=R --steps --usage --user=root --verbose --version --yaml --helpformat --helpFormat --helpstate",
    "sinfo": "--Format=nodes --Node --all --clusters=c --dead --exact --federation --format=%n --future --help --hide --json "
             "--list-reasons --local --long --noconvert --nodes=n1 --noheader --partition=p --reservation --responding --sort=N "
             "--states=idle --summarize --usage --verbose --version --yaml --helpformat --helpFormat --helpstate",
    "sacct": "--accounts=a --allclusters --allocations --allusers --array --associations=1 --batch-script --brief --clusters=c "
             "--completion --constraints=a --delimiter=x --duplicates --endtime=now --env-vars --expand-patterns --federation "
             "--file=f --flags=SchedMain --format=jobid --gid=0 --group=root --help --helpformat --helpreason --helpstate --jobs=1 "
             "--json --local --long --name=n --ncpus=1 --nnodes=1 --noconvert --nodelist=n1 --noheader --parsable --parsable2 "
             "--partition=p --qos=q --reason=None --starttime=now --state=R --timelimit-max=9 --timelimit-min=1 --truncate --uid=0 "
             "--units=M --usage --use-local-uid --user=root --verbose --version --wckeys=w --whole-hetjob=yes --yaml",
    "sstat": "--allsteps --fields=jobid --format=jobid --help --helpformat --jobs=1 --noconvert --noheader --parsable --parsable2 "
             "--pidformat --usage --verbose --version",
    "sprio": "--clusters=c --federation --format=%i --help --helpformat --jobs=1 --local --long --noheader --norm --partition=p "
             "--sibling --sort=i --usage --user=root --verbose --version --weights",
    "sshare": "--Users --accounts=a --all --clusters=c --format=account --help --helpformat --json --long --noheader --parsable "
              "--parsable2 --partition --usage --users=root --verbose --version --yaml",
    "sdiag": "--all --cluster=c --help --json --no-trunc --reset --sort-by-id --sort-by-time --sort-by-time2 --usage --version --yaml",
    "sacctmgr": "--associations --help --immediate --json --noheader --oneliner --parsable --parsable2 --quiet --readonly --verbose "
                "--version --yaml",
    "sattach": "--error-filter=0 --help --input-filter=0 --label --layout --output-filter=0 --pty --quiet --usage --verbose --version",
    "scontrol": "--all --clusters=c --details --federation --future --help --hide --json --local --oneliner --quiet --sibling "
                "--uid=0 --usage --verbose --version --yaml",
    "scrontab": "--help --usage --version",
    "strigger": "--backup_slurmctld_assumed_control --backup_slurmctld_failure --backup_slurmctld_resumed_operation "
                "--burst_buffer --clear --clusters=c --down --drained --draining --fail --fini --flags=perm --front_end --get "
                "--help --id=1 --idle --jobid=1 --node=n1 --noheader --offset=9 --primary_database_failure "
                "--primary_database_resumed_operation --primary_slurmctld_acct_buffer_full --primary_slurmctld_failure "
                "--primary_slurmctld_resumed_control --primary_slurmctld_resumed_operation --primary_slurmdbd_failure "
                "--primary_slurmdbd_resumed_operation --program=/bin/true --quiet --reconfig --resume --set --time --up --usage "
                "--user=root --verbose --version",
}
LETTERS = {
    "squeue": "-a -h -l -P -r -s -v -V", "sinfo": "-a -d -e -F -h -l -N -r -R -s -T -v -V", "sacct": "-a -b -D -e -l -L -n -p -P -T -v -V -X",
    "sstat": "-a -e -h -i -n -p -P -v -V", "sprio": "-h -l -n -v -V -w", "sshare": "-a -e -l -m -n -p -P -U -v -V",
    "sdiag": "-a -h -i -t -T -V", "sacctmgr": "-h -i -n -o -p -P -Q -r -s -v -V",
    "scancel": "-b -f -H -i -Q -v -V", "sbcast": "-C -f -p -v -V -Z", "sattach": "-l -Q -v -V", "scontrol": "-a -d -F -h -o -Q -v -V",
    "scrontab": "-V", "strigger": "-a -A -b -B -c -C -d -D -e -f -F -g -G -h -H -I -N -Q -r -R -t -u -v -V",
}
UNKNOWN = ("unrecognized option", "invalid option", "doesn't allow an argument", "option requires an argument")

# Words after scontrol; those that stop or change the cluster are only looked for in its help.
COMMANDS = ("cancel_reboot cluster completing create delete details errnumstr fsdampeningfactor getaddrs help hide hold listjobs "
            "listpids liststeps notify oneliner pidinfo ping power quiet reboot release requeue requeuehold resume "
            "schedloglevel setdebug setdebugflags show suspend takeover token top uhold update verbose version wait_job write")
ENTITIES = ("aliases assoc_mgr bbstat burstbuffer config daemons dwstat federation hostlist hostlistsorted hostnames job "
            "licenses node partition reservation slurmd step topoconf topology")


@pytest.mark.parametrize("command", OPTIONS)
def test_every_option_is_known(cluster, command):
    for option in (OPTIONS[command] + " " + LETTERS[command]).split():
        said = cluster.run(f"{command} {option} < /dev/null", timeout=60)
        assert not any(words in said.err for words in UNKNOWN), (command, option, said)
        assert said.code in (0, 1), (command, option, said)


def test_every_word_of_scontrol_is_known(cluster):
    help_text = cluster.run("scontrol help").ok().out
    for word in COMMANDS.split():
        said = cluster.run(f"scontrol {word} < /dev/null", timeout=60)
        assert "invalid keyword" not in said.err, (word, said)
    for word in ("abort", "reconfigure", "shutdown"):
        assert f"\n  {word}" in help_text, word
    for entity in ENTITIES.split():
        said = cluster.run(f"scontrol show {entity}", env={"SLURM_JOB_NODELIST": "n[1-2]"})
        assert "invalid entity" not in said.err, (entity, said)
        assert said.code == 0 or said.err.strip(), (entity, said)


def test_the_smaller_words_of_scontrol_do_what_they_say(cluster):

    def run(words, **more):
        return cluster.run(f"scontrol {words}", **more)

    assert run("errnumstr 2017").out == "Invalid job id specified\n"
    assert run("errnumstr 2").out == "No such file or directory\n"
    assert run("errnumstr x").code == 1
    assert run("show hostlistsorted n3,n1,n2,n1").out == "n[1,1-3]\n"
    assert run("show hostnames n[1-2,4]").out == "n1\nn2\nn4\n"
    assert "- topology: default\n" in run("show topoconf").ok().out
    job = cluster.wrap("true", "-H --array=" + ",".join(str(i * i) for i in range(30)))
    shown = run(f"show job {job}").ok().out
    assert "..." in shown.split("ArrayTaskId=")[1].split()[0]
    assert "..." not in run(f"show job {job}", env={"SLURM_BITSTR_LEN": "0"}).ok().out.split("ArrayTaskId=")[1].split()[0]
    cluster.run(f"scancel {job}").ok()


def test_the_configuration_is_written_as_a_file(cluster):
    saved = cluster.run("scontrol write config here.conf").ok().out
    name = saved.removeprefix("Slurm config saved to ").strip()
    assert name.startswith("here.conf.20")
    text = cluster.read(name)
    assert f"\nClusterName={cluster.name}\n" in text and "\nPartitionName=gpu Nodes=n[1-4] MaxTime=1-00:00:00 " in text
    assert text.count("\nNodeName=n") == 4 and "\n#MessageTimeout=\n" in text
    said = cluster.run("scontrol write config /nosuch/folder/file")
    assert said.code == 1 and said.err.startswith("Could not create file /nosuch/folder/file.20")
    elsewhere = cluster.run("scontrol write config", env={"SLURM_CONF_OUT": "there"}).ok().out
    assert elsewhere.startswith("Slurm config saved to there.20")


def test_what_a_real_slurm_says_of_bad_input(cluster):
    run = cluster.run
    job = cluster.wrap("true", "-H")
    for words, said in ((f"scontrol update jobid={job}", "No changes specified\n"),
                        (f"scontrol update jobid={job} timelimit=x", "scontrol: error: Invalid TimeLimit value\n"),
                        (f"scontrol update jobid={job} dependency=x", f"Job dependency problem for job {job}\n"),
                        ("scontrol update jobname=nosuch comment=x", "scontrol: error: No jobs with name 'nosuch'\n"),
                        ("scontrol wait_job 99999", "scontrol: Problem running job 99999\n"),
                        ("squeue -w nosuch", "squeue: error: Invalid node name nosuch\n"),
                        ("sacct -s nosuch", "sacct: fatal: unrecognized job state value 'nosuch'\n"),
                        ("scancel -s NOSUCH 1", "Unknown job signal: NOSUCH\n"),
                        ("sbatch -w n1 -x n1 --wrap true",
                         "sbatch: error: Batch job submission failed: Invalid node name specified\n")):
        answer = run(words)
        assert (answer.code, answer.err) == (1, said), words
    assert run("sprio -j 99999").ok().out == "Unable to find jobs matching user/id(s) specified\n"
    assert run("sinfo -O nosuch").err == "sinfo: error: Invalid job format specification: nosuch\n"
    cluster.run(f"scancel {job}").ok()


@pytest.mark.parametrize("variable, value", [("SBCAST_COMPRESS", "zip"), ("SBCAST_SIZE", "much"), ("SBCAST_FANOUT", "wide"),
                                             ("SBCAST_TIMEOUT", "soon")])
def test_a_bad_value_in_a_variable_of_sbcast_is_told(cluster, variable, value):
    said = cluster.run("sbcast -j 1 /etc/hostname /tmp/x", env={variable: value})
    assert (said.code, said.err) == (1, f"sbcast: error: Invalid value in {variable}\n"), said
