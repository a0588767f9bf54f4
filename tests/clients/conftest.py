"""Real programs on top of a real cluster. The cluster is that of tests/system; the programs live in build/clients."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))

import world
from fixtures import cluster, make_cluster, pytest_runtest_makereport  # noqa: F401

ENVIRONMENTS = world.TREE / "build" / "clients"


def environment(name):
    """The folder of an environment made by tests/clients/install, or the reason to skip."""
    folder = ENVIRONMENTS / name
    if not (folder / "made-from").exists():
        pytest.skip(f"no environment {folder}: tests/clients/install makes it where a package registry is in reach")
    return folder


@pytest.fixture(scope="session")
def tools():
    return environment("tools")


@pytest.fixture(scope="session")
def lightning():
    return environment("lightning")


@pytest.fixture(scope="session")
def nextflow():
    return environment("nextflow")


def drive(cluster, environment, program, name="drive.py", arguments="", timeout=300, **variables):
    """Runs a Python program of the test as alice in that environment; returns what it said."""
    cluster.write(name, program)
    return cluster.run(f"{environment}/bin/python {name} {arguments}", timeout=timeout,
                       env={"PATH": f"{environment}/bin:{cluster.path()}", **variables})
