"""Several hosts on one machine: each has its own network, host name, /etc/hosts and folder of sockets.

A host is a process that holds its namespaces; commands enter them. The hosts hang on a bridge that stands in a
namespace of its own, so nothing of the machine's own network is touched, and all of it goes with the processes.
"""

import os
import subprocess
import tempfile


class Host:
    def __init__(self, name, address, pid):
        self.name, self.address, self.pid = name, address, pid

    def command(self, *arguments):
        return ["nsenter", "-t", str(self.pid), "-m", "-u", "-n", "--", *map(str, arguments)]


class Network:
    def __init__(self, names, run_dir):
        self.holders = []
        self.hosts = {}
        hub = self._hold(["unshare", "-n"])
        self._in(hub, "ip link add hub0 type bridge && ip link set hub0 up && ip link set lo up")
        table = "127.0.0.1 localhost\n" + "".join(f"10.77.0.{i} {n}\n" for i, n in enumerate(names, 1))
        for i, name in enumerate(names, 1):
            pid = self._hold(["unshare", "-n", "-u", "-m"])
            subprocess.run(["nsenter", "-t", str(hub), "-n", "ip", "link", "add", f"v{i}", "type", "veth", "peer", "name",
                            "eth0", "netns", str(pid)], check=True)
            self._in(hub, f"ip link set v{i} master hub0 up")
            self._in(pid, f"ip link set lo up && ip addr add 10.77.0.{i}/24 dev eth0 && ip link set eth0 up")
            hosts = tempfile.NamedTemporaryFile("w", prefix="sy-hosts-", delete=False)
            hosts.write(table)
            hosts.close()
            os.chmod(hosts.name, 0o644)
            self._in(pid, f"hostname {name}; mount --make-rprivate /; mount --bind {hosts.name} /etc/hosts; "
                          f"mount -t tmpfs none {run_dir}; chmod 755 {run_dir}")
            os.unlink(hosts.name)
            self.hosts[name] = Host(name, f"10.77.0.{i}", pid)
        self.hub = hub

    def _hold(self, namespaces):
        process = subprocess.Popen([*namespaces, "sh", "-c", "echo ready; exec sleep 100000"], stdout=subprocess.PIPE)
        process.stdout.readline()
        self.holders.append(process)
        return process.pid

    def _in(self, pid, script):
        kinds = ["-n"] if "hub0" in script else ["-m", "-u", "-n"]
        subprocess.run(["nsenter", "-t", str(pid), *kinds, "sh", "-c", script], check=True)

    def cut(self, name, off=True):
        """Takes a host off the network, or puts it back."""
        index = list(self.hosts).index(name) + 1
        self._in(self.hub, f"ip link set v{index} {'down' if off else 'up'} # hub0")

    def close(self):
        for process in self.holders:
            process.kill()
            process.wait()
