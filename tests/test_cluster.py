"""Tasks on a real Ray cluster: each done exactly once, whatever is killed meanwhile."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

import ssdpt
from nodes import Listener, Nodes, kill
from ssdpt.common.cluster import _JOIN_SECONDS, Cluster, _Need, _Nodes, _not_joined, _reason
from ssdpt.errors import SsdptError
from waiting import wait_until


@pytest.fixture(scope="class")
def session_listener():
    return Listener()


@pytest.fixture
def listener(session_listener):
    """Keeps the warnings of this test only."""
    session_listener.warned.clear()
    return session_listener


@pytest.fixture(scope="class")
def cluster(nodes, session_listener):
    with Cluster.connect(nodes.address, session_listener) as joined:
        yield joined


class TestTasks:
    """Joined once for all of them: what one leaves under way would be in the way of the next."""

    def test_every_item_comes_once_with_its_result_or_its_error(self, cluster, listener):
        def work(number):
            from ssdpt.data.audio import AudioError

            if number == 2:
                raise AudioError(Path("a.wav"), "cut short", "cut short")  # cannot travel by itself
            if number == 3:
                raise ValueError("three")
            if number == 4:
                sys.exit("four")
            return None if number == 5 else 10 * number

        results = dict(cluster.run(work, iter(range(8)), cpus=0.5))
        errors = {index: results.pop(index) for index in (2, 3, 4)}
        assert results == {0: 0, 1: 10, 5: None, 6: 60, 7: 70}
        assert all(type(error) is SsdptError for error in errors.values())
        assert str(errors[2]) == "a.wav: cut short"
        host = socket.gethostname()
        assert str(errors[3]) == f"a task failed on {host}: ValueError: three"
        assert str(errors[4]) == f"a task failed on {host}: SystemExit: four"
        assert listener.warned == []

    def test_no_items(self, cluster):
        assert list(cluster.run(str, [])) == []

    def test_only_some_are_under_way_and_leaving_cancels_them(self, cluster, tmp_path):
        taken = []

        def items():
            for number in range(10**9):
                taken.append(number)
                yield number

        def work(number):
            if number > 4:
                (tmp_path / f"{number}-{os.getpid()}").touch()
                time.sleep(600)
            return number

        results = cluster.run(work, items())
        assert [index for index, _ in islice(results, 5)] == [0, 1, 2, 3, 4]
        assert len(taken) < 10
        wait_until(lambda: any(tmp_path.iterdir()), "the task has started")
        results.close()
        (asleep,) = (int(path.name.partition("-")[2]) for path in tmp_path.iterdir())
        gone = f"process {asleep} has ended"
        wait_until(lambda: not Path(f"/proc/{asleep}").exists(), gone)

    def test_fractions_of_a_gpu(self, cluster, tmp_path):
        def work(number):
            begin = time.time()
            (tmp_path / str(number)).touch()
            # The first waits for the second, whose worker may be slow to start; then there is
            # time for a third, which must not come.
            while len(list(tmp_path.iterdir())) < 2 and time.time() < begin + 60:
                time.sleep(0.01)
            time.sleep(0.4)
            return begin, time.time()

        times = [span for _, span in cluster.run(work, range(6), cpus=0.1, gpus=0.5)]
        at_once = [sum(begin <= start < end for begin, end in times) for start, _ in times]
        assert max(at_once) == 2  # both halves are used, and never a third

    def test_what_no_node_has_is_refused(self, cluster, nodes):
        with pytest.raises(SsdptError) as refused:
            list(cluster.run(str, [1], gpus=2))
        assert str(refused.value) == (
            f"{nodes.address}: no node of this Ray cluster has 1 CPU and 2 GPU, which a task "
            "takes; ask for less, or start a node that has it"
        )
        with pytest.raises(SsdptError, match="1 CPU and 953674316406 MiB of memory"):
            list(cluster.run(str, [1], memory=10**18))

    @pytest.mark.full
    def test_killed_workers_and_a_killed_node_lose_nothing(self, nodes, cluster, listener):
        other = nodes.add()

        def work(number):
            time.sleep(0.3)
            return number * number

        results, killed = [], []
        for index, result in cluster.run(work, range(30)):
            results.append((index, result))
            for node, after in ((nodes.head, 5), (other, 12)):
                busy = [pid for pid, line in node.processes().items() if "ray::_perform" in line]
                if busy and len(results) > after and node not in killed:
                    killed.append(node)
                    kill(busy[0]) if node is nodes.head else node.kill()
        assert len(killed) == 2
        assert sorted(results) == [(number, number * number) for number in range(30)]
        again = [line for line in listener.warned if line.startswith("task ")]
        assert len(again) >= 2, listener.warned
        reasons = {line.partition("runs again: ")[2] for line in again}
        assert reasons <= {"worker crashed", "node died"}

    @pytest.mark.full
    def test_workers_with_another_ssdpt_or_none(self, nodes, cluster, tmp_path):
        older, none = tmp_path / "older", tmp_path / "none"
        shutil.copytree(Path(ssdpt.__file__).parent, older / "ssdpt")
        (older / "ssdpt" / "version.py").write_text('__version__ = "0.0.7"\n')
        (none / "ssdpt").mkdir(parents=True)
        (none / "ssdpt" / "__init__.py").write_text("raise ModuleNotFoundError('no ssdpt here')\n")
        advice = r"install this version of ssdpt with the same extras on every node$"
        # Tasks are sent to one node of the two by the memory that only it claims to have.
        for folder, memory, reason in (
            (older, 10**13, "it has ssdpt 0.0.7"),
            (none, 10**14, ".*no ssdpt here.*"),
        ):
            node = nodes.add(f"--memory={memory}", PYTHONPATH=str(folder))
            with pytest.raises(SsdptError, match=rf"^a worker .* \({reason}\); {advice}"):
                list(cluster.run(str, [1], memory=memory / 2))
            node.kill()


def test_lost_nodes_are_reported_and_the_last_one_ends_the_run(monkeypatch, listener):
    import ray

    def node(name, alive):
        resources = {"CPU": 4.0} if alive else {}
        return {"NodeID": name, "NodeManagerHostname": name, "Alive": alive, "Resources": resources}

    monkeypatch.setattr("ssdpt.common.cluster._check_port", lambda _: None)
    monkeypatch.setattr(ray, "get_runtime_context", lambda: SimpleNamespace(gcs_address=""))
    monkeypatch.setattr(ray, "nodes", lambda: [node("a", True), node("b", True)])
    nodes = _Nodes("head:6379", _Need(1, 0, 0), listener)
    assert nodes.slots == 8
    monkeypatch.setattr(ray, "nodes", lambda: [node("a", True), node("b", False)])
    nodes.look()  # just done
    assert nodes.slots == 8
    nodes.look(at_once=True)
    assert nodes.slots == 4
    nodes.check()
    assert listener.warned == [
        "a node of the cluster is lost (b); 1 left, which run its tasks again"
    ]
    monkeypatch.setattr(ray, "nodes", lambda: [node("a", False), node("b", False)])
    nodes.look(at_once=True)
    with pytest.raises(SsdptError, match="no node of this Ray cluster has 1 CPU"):
        nodes.check()


@pytest.mark.full
def test_a_lost_head_is_one_sentence_within_seconds():
    with Nodes() as nodes, Cluster.connect(nodes.address) as cluster:
        results = cluster.run(lambda number: time.sleep(0.2) or number, range(10**6))
        assert next(results) == (0, 0)
        nodes.head.kill()
        began = time.monotonic()
        with pytest.raises(SsdptError, match="the head of the Ray cluster is gone; start the"):
            list(results)
        assert time.monotonic() - began < 60


def test_no_cluster_there():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{silent.getsockname()[1]}"  # nobody listens
        began = time.monotonic()
        with pytest.raises(SsdptError, match=r"no Ray cluster can be joined there \(Connection"):
            enter(address)
        assert time.monotonic() - began < _JOIN_SECONDS  # refused, not waited for
    for wrong in ("", "somewhere", "localhost:", "localhost:99999", ":6379", "localhost:http"):
        with pytest.raises(SsdptError, match="give auto or host:port"):
            enter(wrong)


def test_something_else_at_the_port(monkeypatch):
    monkeypatch.setattr("ssdpt.common.cluster._JOIN_SECONDS", 3.0)
    waits = pytest.raises(SsdptError, match=r"\(no answer within 3 s\); start one with")
    with socket.create_server(("127.0.0.1", 0)) as server, waits:
        enter(f"127.0.0.1:{server.getsockname()[1]}")


def test_versions_that_differ_are_named():
    message = (
        "Version mismatch: The cluster was started with: Ray: 2.40.0 Python: 3.12.1 "
        "This process on node 10.0.0.1 was started with: Ray: 2.60.0 Python: 3.11.9"
    )
    assert str(_not_joined("head:6379", message)) == (
        "head:6379: the Ray cluster runs other versions than this process; Ray and Python there "
        "and here: 2.40.0, 3.12.1, 2.60.0, 3.11.9; use the same Ray and Python on every node"
    )


def test_ray_itself_prints_nothing(nodes, tmp_path):
    """Not even when a worker dies, of which it would print a paragraph."""
    code = """
import os, sys
from pathlib import Path
from ssdpt.common.cluster import Cluster

marker = Path(sys.argv[2])

def work(number):
    print("noise")
    if number == 1 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), 9)
    return number + 1

with Cluster.connect(sys.argv[1]) as cluster:
    print(sorted(cluster.run(work, range(3))))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, nodes.address, tmp_path / "died"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[(0, 1), (1, 2), (2, 3)]\n"
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize(
    ("need", "node", "tasks"),
    [
        (_Need(1, 0.1, 0), {"CPU": 64.0, "GPU": 1.0}, 10),
        (_Need(1, 0.25, 0), {"CPU": 2.0, "GPU": 1.0}, 2),
        (_Need(1, 0.25, 0), {"CPU": 2.0}, 0),
        (_Need(0.5, 0, 2**30), {"CPU": 4.0, "memory": 3.5 * 2**30}, 3),
    ],
)
def test_how_many_tasks_a_node_takes(need, node, tasks):
    assert need.fits(node) == tasks


def test_reasons_of_losses():
    from ray.exceptions import NodeDiedError, WorkerCrashedError

    assert _reason(WorkerCrashedError()) == "worker crashed"
    assert _reason(NodeDiedError("gone")) == "node died"


def enter(address):
    with Cluster.connect(address):
        pass
