"""The audit: what was acknowledged to clients against what the store, the nodes and the jobs themselves say."""

import collections
import platform
import sqlite3
import time

# A job whose stepd or agent was killed may end so; everything else has to complete.
MAY_FAIL = ("NODE_FAIL", "FAILED")
GROWTH_MAX = 1.5  # Of the largest in the last third over the largest in the first, and only beyond some MiB.
GROWTH_KIB_MIN = 24 << 10
DESCRIPTORS_MORE_MAX = 64


class Audit:
    def __init__(self, field, trouble, seconds, seed):
        self.field, self.trouble, self.seconds, self.seed = field, trouble, seconds, seed
        self.faults = []
        self.jobs = self._stored_jobs()
        self.runs = self._runs()
        self.lost = self._lost()
        self.doubled = self._doubled()
        self.orphaned = self._orphaned()
        self.leaked = self._leaked()
        self.growth = self._growth()

    def _fault(self, kind, what):
        self.faults.append(f"{kind}: {what}")
        return what

    def _stored_jobs(self):
        with sqlite3.connect(f"file:{self.field.disk}/switchyard.db?mode=ro", uri=True) as store:
            rows = store.execute("SELECT id, name, state FROM jobs").fetchall()
        return {job: (name, state) for job, name, state in rows}

    def _runs(self):
        """The lines of each job, in order: (what, which run)."""
        runs = collections.defaultdict(list)
        for line in self.field.read("runs.log").splitlines():
            what, job, attempt = line.split()
            runs[int(job)].append((what, int(attempt)))
        return runs

    def _lost(self):
        found = [self._fault("lost", f"{name} was told id {job}, which is not in the store")
                 for name, job in self.field.submitters.told.items() if self.jobs.get(job, ("",))[0] != name]
        for job, (name, state) in self.jobs.items():
            ended = [line for line in self.runs.get(job, []) if line[0] == "end"]
            if state == "COMPLETED" and not ended:
                found.append(self._fault("lost", f"{job} ({name}) is COMPLETED and never came to its end"))
            # What was taken in and then refused, because the disk was full, ends at once.
            if state == "CANCELLED" and name in self.field.submitters.refused:
                continue
            if state not in ("COMPLETED", *MAY_FAIL):
                found.append(self._fault("lost", f"{job} ({name}) ended as {state}"))
        return found

    def _doubled(self):
        found = []
        given = collections.Counter(self.field.submitters.told.values())
        found += [self._fault("doubled", f"id {job} was given {n} times") for job, n in given.items() if n > 1]
        names = collections.Counter(name for name, _ in self.jobs.values())
        found += [self._fault("doubled", f"submission {name} became {n} jobs") for name, n in names.items() if n > 1]
        for job, lines in self.runs.items():
            if len(set(lines)) != len(lines):
                found.append(self._fault("doubled", f"job {job} did the same run twice: {lines}"))
            # After a later run has begun, nothing of an earlier one may stir.
            if [attempt for _, attempt in lines] != sorted(attempt for _, attempt in lines):
                found.append(self._fault("doubled", f"two runs of job {job} at once: {lines}"))
        return found

    def _orphaned(self):
        return [self._fault("orphaned", f"process {pid}") for pid in self.field.leftovers()]

    def _leaked(self):
        found = []
        for node in self.field.names:
            shown = self.field.node(node)
            if (shown["CPUAlloc"], shown["AllocMem"]) != ("0", "0"):
                found.append(self._fault("leaked", f"{node} has {shown['CPUAlloc']} cores and {shown['AllocMem']} MB given out"))
            left = [p.name for p in (self.field.dir / "spool" / node).iterdir() if p.suffix == ".sock" or p.name.startswith("job")]
            if left:
                found.append(self._fault("leaked", f"{node} has {left[:5]} in its spool"))
            folders = _cgroups_of(self.field.dir.name, node)
            if folders:
                found.append(self._fault("leaked", f"{node} has the cgroups {folders[:5]}"))
        return found

    def _growth(self):
        """Per daemon: the largest size and number of descriptors in the first and in the last third."""
        out = {}
        third = self.seconds / 3
        for name in ["controller", *self.field.names]:
            first = [s for s in self.field.sampler.samples if s[1] == name and s[0] < third]
            last = [s for s in self.field.sampler.samples if s[1] == name and s[0] > 2 * third]
            if not first or not last:
                continue
            sizes = max(s[3] for s in first), max(s[3] for s in last)
            open_ = max(s[4] for s in first), max(s[4] for s in last)
            out[name] = (sizes, open_)
            if sizes[1] > sizes[0] * GROWTH_MAX and sizes[1] - sizes[0] > GROWTH_KIB_MIN:
                self._fault("leaked", f"{name} grew from {sizes[0]} to {sizes[1]} KiB")
            if open_[1] > open_[0] + DESCRIPTORS_MORE_MAX:
                self._fault("leaked", f"{name} went from {open_[0]} to {open_[1]} descriptors")
        return out

    def text(self):
        told, refused = self.field.submitters.told, self.field.submitters.refused
        states = collections.Counter(state for _, state in self.jobs.values())
        lines = [f"Machine: {platform.node()}, Linux {platform.release()}, {time.strftime('%Y-%m-%d')}; seed {self.seed}.", "",
                 "| what | |", "|---|---:|",
                 f"| time | {self.seconds / 60:.1f} minutes |",
                 f"| submissions acknowledged | {len(told):,} ({len(told) / self.seconds:.0f} a second) |",
                 f"| submissions refused | {len(refused):,} |",
                 f"| ended as | {', '.join(f'{n:,} {s}' for s, n in states.most_common())} |",
                 f"| trouble | {', '.join(f'{n} x {k}' for k, n in sorted(self.trouble.count.items()))} |"]
        for kind in ("lost", "doubled", "orphaned", "leaked"):
            lines.append(f"| {kind} | {len([f for f in self.faults if f.startswith(kind)])} |")
        for name, (sizes, descriptors) in self.growth.items():
            lines.append(f"| {name}: largest in the first and last third | {sizes[0] >> 10} and {sizes[1] >> 10} MiB, "
                         f"{descriptors[0]} and {descriptors[1]} descriptors |")
        return "\n".join([*lines, *([""] + self.faults[:50] if self.faults else [])])


def _cgroups_of(cluster, node):
    import glob
    return [p for pattern in (f"/sys/fs/cgroup/*/switchyard/{cluster}_*/{node}/job_*", f"/sys/fs/cgroup/switchyard/{cluster}_*/{node}/job_*")
            for p in glob.glob(pattern)]
