"""The page of a comparison in a headless browser: nothing overlaps, is cut off or too small, nothing is asked of a network.

A small script is put into a copy of the page; it measures what the browser made of it and writes that into the
page, which the browser then prints. The figures are made up: lines with long names, ranges over decades, gaps.
A picture stays in target/test-logs/html_report.png for people to look at.
"""

import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile

from harness import broker, loadgen, png
from harness.checks import check, equal, finish, note, part, skip, watchdog

watchdog(200)
LOGS = broker.TARGET / "test-logs"
WIDTHS = (1180, 700)

MEASURE = """
<script>
const box = e => e.getBoundingClientRect();
const cut = [], overlaps = [], small = [];
for (const svg of document.querySelectorAll('svg')) {
  const frame = box(svg), texts = [...svg.querySelectorAll('text')];
  for (const text of texts) {
    const b = box(text);
    if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1) cut.push(text.textContent);
    if (b.height < 8) small.push(text.textContent);
  }
  for (let i = 0; i < texts.length; i++) for (let j = 0; j < i; j++) {
    const a = box(texts[i]), b = box(texts[j]);
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 1 && high > 4) overlaps.push([texts[j].textContent, texts[i].textContent]);
  }
}
const result = document.createElement('pre');
result.id = 'measured';
result.textContent = JSON.stringify({
  cut, overlaps, small, svgs: document.querySelectorAll('svg').length,
  lines: [...document.querySelectorAll('polyline')].filter(l => l.getTotalLength() > 10).length,
  bars: [...document.querySelectorAll('rect.bar')].filter(r => box(r).width >= 0.5).length,
  wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  requests: performance.getEntriesByType('resource').length, errors: window.failed || 0,
});
document.body.appendChild(result);
</script>
"""


def browser(*args):
    """stdout of the browser."""
    with tempfile.TemporaryDirectory(prefix="browser-") as profile:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}", *args]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
    if done.returncode:
        raise RuntimeError(f"chromium: {done.returncode}\n{done.stderr[-1500:]}")
    return done.stdout


def summary(median, spread):
    return {"median": median, "min": median * (1 - spread), "max": median * (1 + spread), "values": [median * (1 - spread), median, median * (1 + spread)]}


def comparison():
    """Ten lines, one of them not run, one measured on one side only."""
    names = ["1 producer, no replication", "1 producer, growing stored data, which is a long name for a line of a suite", "1 consumer", "3 consumers",
             "1 producer and 1 consumer", "end-to-end latency", "record size 10 B", "record size 1 KB", "record size 100 KB"]
    metrics = {"messages_per_s": 412_345, "megabytes_per_s": 41.2, "p50_ms": 2.1, "p99_ms": 12.8, "p999_ms": 77.0, "cpu_s_per_gb": 11.9, "rss_mib": 1215,
               "switches_per_thousand": 38.0, "written_per_byte": 1.1, "syscalls_per_thousand": 240}
    lines = []
    for at, name in enumerate(names):
        scale = 3.0 ** (at % 5) / 9
        rows = []
        for metric, base in metrics.items():
            gain = 2.4 if metric.endswith("per_s") else 0.3
            sides = [summary(base * scale, 0.06), None if at == 3 else summary(base * scale * gain, 0.02)]
            rows.append({"metric": metric, "sides": sides})
        curves = []
        for side in range(2):
            rate = [[s + 1.0, 4e5 * scale * (1 + 1.4 * side) * (1 + 0.15 * math.sin(s * (side + 1)))] for s in range(30)]
            latency = [[p, (1.0 - 0.6 * side) * (1 - p / 100 + 1e-5) ** -0.45] for p in (0, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999)]
            curves.append({"rate": rate, "latency": latency})
        lines.append({"name": name, "not_run": None, "rows": rows, "curves": [curves[0], None if at == 3 else curves[1]], "msgs_per_s_2014": 821_557.0})
    lines.append({"name": "3 producers, 3x asynchronous replication", "not_run": "it takes three brokers", "rows": [], "curves": [None, None], "msgs_per_s_2014": 2_024_032.0})
    machine = {"processor": "a processor of 2026", "cores": 2, "memory_mib": 24105, "kernel": "Linux", "storage": "ext4", "date": "2026-11-30"}
    return {"suite": "made-up figures", "scale": "0.04", "rounds": 5, "command": "ringlog-loadgen compare --suite kreps2014", "machine": machine, "lines": lines,
            "targets": [{"name": "kafka", "what": "a broker"}, {"name": "ringlog", "what": "another broker"}], "syscalls_not_counted": None}


def measured(page, width, folder):
    copy = folder / f"measured-{width}.html"
    copy.write_text(page.replace("</body>", MEASURE + "</body>").replace("<head>", "<head><script>window.onerror=()=>window.failed=1</script>"))
    dom = browser(f"--window-size={width},900", "--dump-dom", f"file://{copy}")
    found = re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)
    return json.loads(found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def look(path, page_height):
    """A picture, and how many of its pixels have either broker's colour."""
    picture = LOGS / "html_report.png"
    browser(f"--window-size=1180,{page_height}", f"--screenshot={picture}", f"file://{path}")
    width, height, rows = png.rows(picture)
    wanted = {"kafka": (0xC2, 0x70, 0x1C), "ringlog": (0x25, 0x63, 0xC4)}
    counts, colours = dict.fromkeys(wanted, 0), set()
    for row in rows:
        colours.update(row[::7])
        for name, colour in wanted.items():
            counts[name] += row.count(colour)
    return width, height, counts, len(colours)


def main():
    if not shutil.which("chromium"):
        skip("the report in a browser", "no chromium")
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="html-report-", dir=LOGS) as name:
        folder = pathlib.Path(name)
        source, path = folder / "comparison.json", folder / "comparison.html"
        source.write_text(json.dumps(comparison()))
        with part("drawing"):
            done = loadgen.run("report", source, path)
            equal(done.returncode, 0, "`report` draws a comparison")
            source.write_text('{"lines": 7, "targets": []}')
            done = loadgen.run("report", source, folder / "none.html")
            check(done.returncode == 1 and "is no result" in done.stderr, "and refuses what is none", done.stderr)
        page = path.read_text()
        for width in WIDTHS:
            with part(f"{width} pixels wide"):
                found = measured(page, width, folder)
                equal((found["svgs"], found["lines"], found["bars"]), (8 + 18, 34, 8 * 17), "every chart, line and bar is there and has a size")
                equal(found["cut"], [], "no text is cut off")
                equal(found["overlaps"], [], "no text lies on another")
                if width > 800:
                    equal(found["small"], [], "no text is too small to read")
                check(found["wide"] <= 0, "the page isn't wider than the window", found["wide"])
                equal((found["requests"], found["errors"]), (0, 0), "nothing is asked of a network, nothing fails")
        with part("a picture"):
            width, height, counts, colours = look(path, 2400)
            equal((width, height), (1180, 2400), "the browser painted it")
            check(min(counts.values()) > 5000, "both brokers' colours fill bars", counts)
            check(colours > 20, "with text and rules between", colours)
            note(f"to look at: {LOGS / 'html_report.png'}")


main()
finish()
