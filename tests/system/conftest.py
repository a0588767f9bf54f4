import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

from fixtures import cluster, make_cluster, pytest_runtest_makereport  # noqa: F401
