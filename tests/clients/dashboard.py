"""The dashboard of deploy/ by a real Prometheus: it scrapes a broker, and every panel's query has an answer."""

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from harness import batches, broker, rdkafka
from harness.checks import check, equal, eventually, finish, note, part, unique, watchdog
from harness.wire import Connection

watchdog(170)
DASHBOARD = json.loads((broker.ROOT / "deploy" / "grafana-dashboard.json").read_text())
# A healthy node has none of these yet.
MAY_BE_EMPTY = {"Error codes"}


class Prometheus:
    """One of our own, with a single target."""

    def __init__(self, work_dir, target):
        self.port = broker.free_port()
        config = work_dir / "prometheus.yml"
        config.write_text(json.dumps({"global": {"scrape_interval": "1s"},
                                      "scrape_configs": [{"job_name": "ringlog", "static_configs": [{"targets": [target]}]}]}))
        self.log = open(work_dir / "prometheus.log", "wb")
        self.process = subprocess.Popen(
            [shutil.which("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={work_dir / 'tsdb'}",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def query(self, expression):
        """The vector's values; none while it can't be asked."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return [float(row["value"][1]) for row in json.load(answer)["data"]["result"]]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it still reads its storage
                return []
            raise ValueError(f"{expression}: {error.read()[:300]}") from None
        except OSError:
            return []

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.log.close()


def work(node, topic, seconds):
    """Something for every panel to show."""
    reader = rdkafka.consumer(node.bootstrap, unique("watched"))
    reader.subscribe([topic])
    end = time.monotonic() + seconds
    with Connection(node.bootstrap) as peer:
        while time.monotonic() < end:
            for p in range(4):
                peer.produce(topic, batches.build([(b"k", b"v" * 100)] * 5), p)
            message = reader.poll(0.1)
            if message and not message.error():
                reader.commit(message, asynchronous=False)
    return reader


def panels():
    port = broker.free_port()
    node = broker.Ringlog({"ringlog.shards": "2", "ringlog.admin.listen": f"127.0.0.1:{port}"})
    with node:
        prometheus = Prometheus(node.work_dir, f"127.0.0.1:{port}")
        try:
            check(eventually(lambda: prometheus.query("up") == [1.0], 60), "Prometheus scrapes it", prometheus.query("up"))
            topic = rdkafka.create(node.bootstrap, unique("watched"), 4)
            reader = work(node, topic, 12)
            asked = 0
            for panel in DASHBOARD["panels"]:
                for target in panel.get("targets", []):
                    expression = target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")
                    values = prometheus.query(expression)
                    asked += 1
                    if panel["title"] not in MAY_BE_EMPTY:
                        check(values and all(v == v and abs(v) != float("inf") for v in values), f"{panel['title']}: has an answer", (expression, values))
            note(f"{asked} queries")
            left = [t["expr"] for p in DASHBOARD["panels"] for t in p.get("targets", []) if not re.search(r"\$instance", t["expr"])]
            equal(left, [], "every query keeps to the chosen nodes")
            reader.close()
        finally:
            prometheus.stop()


with part("panels"):
    panels()
finish()
