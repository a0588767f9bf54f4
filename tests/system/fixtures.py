"""What every test of whole clusters starts from: clusters, and the daemons' last words after a failure."""

import pytest

import world
from cluster import Cluster

world.enter()


@pytest.fixture(scope="module")
def cluster():
    """Four pretend nodes of eight cores with two cards each, shared by the tests of a file."""
    made = Cluster()
    yield made
    made.stop()


@pytest.fixture
def make_cluster():
    """Clusters of a test's own."""
    made = []

    def make(**options):
        made.append(Cluster(**options))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """On a failure, the daemons' last words are part of the report."""
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not report.failed:
        return
    found = [v for v in item.funcargs.values() if isinstance(v, Cluster)]
    for one in found:
        for log in sorted((one.dir / "log").glob("*")):
            text = log.read_text(errors="replace")
            if text:
                report.sections.append((f"{log.name}", text[-3000:]))
