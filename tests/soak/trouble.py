"""What goes wrong: one kind of trouble after another, chosen at random, several at once where they last."""

import collections
import os
import signal
import time

from cluster import kill
from field import NODE_HOSTS, stepds


class Trouble:
    def __init__(self, field, rng, say):
        self.field, self.rng, self.say = field, rng, say
        self.count = collections.Counter()
        self.kinds = [self.kill_controller, self.kill_controller, self.kill_agent, self.kill_stepd, self.kill_stepd,
                      self.kill_both, self.pause_controller, self.pause_agent, self.fill_disk, self.cut_cable, self.nothing]
        self.last_said = time.monotonic()

    def happen(self):
        kind = self.rng.choice(self.kinds)
        kind()
        self.count[kind.__name__] += 1
        self.field.keep_alive()
        if time.monotonic() - self.last_said > 15:
            self.last_said = time.monotonic()
            told = self.field.submitters
            self.say(f"  {len(told.told)} acknowledged, {len(told.refused)} refused, trouble {sum(self.count.values())}")
        time.sleep(self.rng.uniform(0.05, 0.8))

    def over(self):
        self.field.keep_alive()

    def _agent(self):
        return self.rng.choice(self.field.names)

    def nothing(self):
        time.sleep(self.rng.uniform(0.1, 1.5))

    def kill_controller(self):
        kill(self.field.controller, signal.SIGKILL)
        time.sleep(self.rng.choice([0, 0, 0.3]))
        self.field.start_controller()

    def kill_agent(self):
        node = self._agent()
        kill(self.field.agents[node], signal.SIGKILL)
        time.sleep(self.rng.choice([0, 0, 0.3]))
        self.field.start_agent(node)

    def kill_both(self):
        node = self._agent()
        kill(self.field.controller, signal.SIGKILL)
        kill(self.field.agents[node], signal.SIGKILL)
        self.field.start_agent(node)
        self.field.start_controller()

    def kill_stepd(self):
        running = stepds(self.field)
        if not running:
            return
        try:
            os.kill(self.rng.choice(running), signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _pause(self, process):
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.2, 2))
        process.send_signal(signal.SIGCONT)

    def pause_controller(self):
        self._pause(self.field.controller)

    def pause_agent(self):
        self._pause(self.field.agents[self._agent()])

    def fill_disk(self):
        """Every byte of the store's disk, for a while."""
        filler = self.field.disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    pass
        time.sleep(self.rng.uniform(0.5, 3))
        if self.rng.random() < 0.3:
            kill(self.field.controller, signal.SIGKILL)  # And then the machine dies, with the disk still full.
            self.field.start_controller()
            time.sleep(0.5)
        filler.unlink()

    def cut_cable(self):
        host = NODE_HOSTS[self._agent()]
        self.field.network.cut(host)
        time.sleep(self.rng.uniform(0.3, 5))
        self.field.network.cut(host, off=False)
