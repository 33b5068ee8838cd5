"""Write docs/accuracy.md from the figures that measure.py kept.

  python3 peers/document.py [peers/results.json [docs/accuracy.md]]
"""

import json
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
OURS = "lmxbench"


def median(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def number(x, unit=1.0, signed=False):
    """At most three significant digits, no exponent; a dash for unknown."""
    if x is None:
        return "–"
    x *= unit
    digits = 0 if abs(x) >= 100 else 1 if abs(x) >= 10 else 2
    text = f"{x:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text.replace("-", "−")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def get(run, *path):
    for key in path:
        run = run.get(key) if run else None
    return run


# Above this share of the cores taken by others a run is disturbed, and used only
# where its client has no quieter one at that load.
DISTURBED = 0.5


class Group:
    """The repeats of one client at one load."""

    def __init__(self, client, runs, cores):
        self.client = client
        self.silent = [r for r in runs if "noReport" in r]
        self.all = sorted((r for r in runs if "noReport" not in r), key=lambda r: r["othersCores"])
        quiet = [r for r in self.all if r["othersCores"] <= DISTURBED * cores]
        self.runs = quiet or self.all[:1]
        self.disturbed = not quiet

    def used(self):
        return f"{len(self.runs)} of {len(self.all)}{' ²' if self.disturbed and self.all else ''}"

    def of(self, *path):
        return median([get(r, *path) for r in self.runs])

    def verdicts(self):
        seen = {}
        for r in self.runs:
            status = get(r, "reported", "verdict")
            if status:
                seen[status] = seen.get(status, 0) + 1
        return ", ".join(f"{status} {n} ×" for status, n in sorted(seen.items())) or "none"


def groups(results, streams, fault=None):
    runs = [r for r in results["runs"] if r["streams"] == streams and r["fault"] == fault]
    names = list(dict.fromkeys(r["client"] for r in sorted(runs, key=lambda r: (r["client"] != OURS, r["client"].lower()))))
    return [Group(name, [r for r in runs if r["client"] == name], results["machine"]["cores"]) for name in names]


def clean_streams(results):
    return sorted({r["streams"] for r in results["runs"] if r["fault"] is None})


def per_request(group):
    return any(r["itlPer"] == "request" for r in group.runs)


def accuracy_row(group):
    star = " ¹" if per_request(group) else ""
    ms = lambda *path: number(group.of(*path), signed=True)
    return [
        group.client, group.used(),
        ms("ttftErrorMs", "mean"), ms("ttftErrorMs", "p50"), ms("ttftErrorMs", "p99"),
        ms("itlErrorMs", "mean") + star, ms("itlErrorMs", "p50") + star, ms("itlErrorMs", "sigma") + star, ms("itlErrorMs", "p99") + star,
        group.verdicts(),
    ]


def cost_row(group):
    most, mean = group.of("true", "inFlightMost"), group.of("true", "inFlightMean")
    return [
        group.client, number(group.of("true", "loadHeld"), 100), f"{'–' if most is None else round(most)} / {'–' if mean is None else round(mean)}",
        number(group.of("cpuUsPerEvent")), number(group.of("cpuUsPerEventWithStart")), number(group.of("peakMemoryBytes"), 1e-6),
        number(group.of("firstRequestSeconds")), number(group.of("othersCores")), number(group.of("engineLateP99Us"), 1e-3),
    ]


def worst_row(group):
    """The run with the largest error of TTFT or ITL tail, disturbed or not."""
    size = lambda r: max(abs(get(r, "ttftErrorMs", "mean") or 0), abs(get(r, "itlErrorMs", "p99") or 0))
    run = max(group.all, key=size)
    said = run["reported"]
    verdict = said.get("verdict") or "none"
    if said.get("codes"):
        verdict += f" ({', '.join(said['codes'])})"
    return [
        group.client, number(get(run, "ttftErrorMs", "mean"), signed=True), number(get(run, "ttftErrorMs", "p99"), signed=True),
        number(get(run, "itlErrorMs", "p99"), signed=True) + (" ¹" if per_request(group) else ""),
        number(get(run, "true", "loadHeld"), 100), number(run["othersCores"]), verdict,
    ]


WORST_HEAD = ["client", "TTFT mean", "TTFT p99", "ITL p99", "load held %", "others' cores", "its own verdict"]

ACCURACY_HEAD = ["client", "runs", "TTFT mean", "TTFT p50", "TTFT p99", "ITL mean", "ITL p50", "ITL σ", "ITL p99", "its own verdict"]
COST_HEAD = [
    "client", "load held %", "in flight most / mean", "CPU µs per event", "the same with start-up", "peak memory MB",
    "start to first request s", "others' cores", "engine late p99 ms",
]

# What is compared in the list of losses: words, path, and whether the size
# counts (an error) or the value (a cost; for load more is better).
CONTESTS = [
    ("TTFT error, mean", ("ttftErrorMs", "mean"), "size", "ms"),
    ("TTFT error, p99", ("ttftErrorMs", "p99"), "size", "ms"),
    ("ITL error, mean", ("itlErrorMs", "mean"), "size", "ms"),
    ("ITL error, p99", ("itlErrorMs", "p99"), "size", "ms"),
    ("load held", ("true", "loadHeld"), "more", ""),
    ("CPU per event", ("cpuUsPerEvent",), "less", "µs"),
    ("peak memory", ("peakMemoryBytes",), "less", "bytes"),
    ("start to first request", ("firstRequestSeconds",), "less", "s"),
]


def losses(results):
    """Every contest that some other client won, one line each."""
    lines = []
    for streams in clean_streams(results):
        for words, path, kind, unit in CONTESTS:
            scored = []
            for group in groups(results, streams):
                value = group.of(*path)
                if value is None or (path[0] == "itlErrorMs" and per_request(group)):
                    continue
                score = abs(value) if kind == "size" else -value if kind == "more" else value
                scored.append((score, group.client, value))
            if not scored:
                continue
            best = min(scored)
            ours = next((s for s in scored if s[1] == OURS), None)
            if ours and best[1] != OURS and best[0] < ours[0]:
                lines.append(f"- {streams} streams, {words}: {best[1]} {number(best[2])} {unit}, ours {number(ours[2])} {unit}".rstrip())
    return lines


def fault_rows(results, fault):
    rows = []
    for group in groups(results, next(r["streams"] for r in results["runs"] if r["fault"] == fault), fault):
        for r in group.silent:
            rows.append([group.client, "–", "–", "–", "–", "no report: " + r["noReport"].replace("|", "/")[:80]])
        for r in group.all:
            said = r["reported"]
            note = ", ".join(f"{k} {v}" for k, v in sorted((said.get("outcomes") or {}).items()) if k != "ok")
            if said.get("verdict"):
                note += f"{'; ' if note else ''}verdict {said['verdict']}"
                if said["codes"]:
                    note += f" ({', '.join(said['codes'])})"
            rows.append([
                group.client, f"{said['ok']} / {said['failed']}", f"{r['true']['requests'] - r['true']['faulty']} / {r['true']['faulty']}",
                f"{said['outputTokens']:,} / {r['true']['outputTokens']:,}",
                f"{number(get(said, 'itlMs', 'mean'))}{' ¹' if r['itlPer'] == 'request' else ''}", note or "nothing",
            ])
    return rows


FAULT_HEAD = ["client", "ok / failed it reports", "sound / faulty in truth", "tokens reported / sent", "mean ITL it reports, ms", "what else it says"]


def loads_text(results):
    runs = {r["streams"]: r for r in results["runs"] if r["fault"] is None}
    return "; ".join(f"{n} streams: {runs[n]['warmup']} warm-up requests, then {runs[n]['requests']} of {runs[n]['tokens']} tokens" for n in sorted(runs))


def sessions_text(results):
    first, *later = results["sessions"]
    text = f"Begun {first['began']}, {round(first['seconds'] / 60)} minutes"
    for session in later:
        text += f"; {', '.join(session['clients'])} in a session of its own, begun {session['began']}, {round(session['seconds'] / 60)} minutes"
    return text


def many_cores():
    """What `lmxbench calibrate` printed on a machine of 16 cores, as it was printed."""
    recorded = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "h200"
    parts = [
        "## With cores to spare: 16, half of them ours",
        "`lmxbench calibrate` on the machine of an H200 (16 cores of an Intel Xeon, otherwise idle, 2026-11-30). No other client was measured there.",
    ]
    for name, command in (
        ("calibration-16-cores.txt", "lmxbench calibrate"),
        ("calibration-16-cores-1000x100.txt", "lmxbench calibrate --rungs 1000 --rate 100"),
        ("calibration-16-cores-256-10000.txt", "lmxbench calibrate --rungs 256,10000"),
    ):
        text = (recorded / name).read_text(encoding="utf-8")
        parts.append(f"`{command}`:\n\n```\n{text.rstrip()}\n```")
    parts.append(
        "The first table is of an earlier build of the reading loop than the other two: "
        "at 256 streams an event cost 1.9 times the bare loop with it, and 1.2 to 1.4 times with the later one."
    )
    return parts


def render(results):
    m = results["machine"]
    repeats = max((r["repeat"] for r in results["runs"] if r["fault"] is None), default=0) + 1
    before = median([r["loadAverageBefore"] for r in results["runs"]])
    others = [r["othersCores"] for r in results["runs"]]
    parts = [
        "# Accuracy: this client and others, on one machine",
        "Written by `peers/document.py` from `peers/results.json`; do not edit by hand. Repeat it with `make peers`.",
        "How far does what a load generator reports lie from what happened? Each client measured the same simulated engine, "
        "which keeps the clock just before each write and the kernel's stamp of each request's arrival. "
        "Error = reported − true, in the same run, over the requests that were served without an injected fault. "
        "Nothing here says how fast any engine is.",
        "## Conditions",
        f"- {m['cpu']}, {m['cores']} cores, {m['memoryGiB']} GiB, Linux {m['kernel']}, Python {m['python']}; "
        f"client and engine on the same cores, loopback. {sessions_text(results)}; "
        f"up to {repeats} runs of each client and load, in turn. Figures are medians of the runs during which other processes took "
        f"at most {DISTURBED:.0%} of the cores; where a client has none, of its quietest one, marked ².",
        f"- **The machine was shared** with other work: other processes took {number(median(others))} cores during a run (median), "
        f"{number(max(others))} at most; each row below has its own. Load average before a run, which counts the run before it too: {number(before)} (median). "
        "Where cores are scarce every client is later, ours too: read the order of magnitude.",
        f"- Engine: `lmxbench sim --profile {results['profile']}`, all streams get one token in a burst every {results['intervalMs']:g} ms. "
        f"Loads: {loads_text(results)}. Ours sends closed batches (all at once, then all again), the others keep so many open and refill.",
        "- Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(results["versions"].items(), key=lambda v: v[0].lower()))
        + ". The exact packages are in `peers/requirements/`, the options of each in `peers/clients.py`.",
    ]
    if skipped := sum(session["skipped"] for session in results["sessions"]):
        parts.append(f"- {skipped} planned runs were left out when the time was over.")
    for name, why in sorted(results["missing"].items()):
        parts.append(f"- Not measured: {name} ({why}).")
    parts[4:] = ["\n".join(parts[4:])]
    parts.append("## Error, ms (reported − true)")
    for streams in clean_streams(results):
        parts += [f"### {streams:,} streams", table(ACCURACY_HEAD, [accuracy_row(g) for g in groups(results, streams)])]
        for g in groups(results, streams):
            for r in g.silent:
                parts.append(f"{g.client} gave no report in one run: {r['noReport']}.")
    parts += ["### The worst single run of each, disturbed ones included"]
    for streams in clean_streams(results):
        parts += [f"{streams:,} streams:", table(WORST_HEAD, [worst_row(g) for g in groups(results, streams) if g.all])]
    parts += [
        "¹ One mean per request is all that it reports, compared with the true mean of each request: its ITL hides every single gap.",
        "A late client shifts all its stamps by about as much, so mean and median ITL look right everywhere; "
        "TTFT and the tail of the ITL show what a client can do. A client that starts its clock before it dials "
        "reports the dialling as part of TTFT; ours dials first.",
        "## Load and cost",
        "Load held: tokens sent while anything was open ÷ what so many streams should carry. In flight: requests really open at the engine. "
        "CPU: user and system time of the whole process tree ÷ all token events, from the first request's arrival on, and from the start of the program. "
        "Memory: resident, summed over processes.",
    ]
    for streams in clean_streams(results):
        parts += [f"### {streams:,} streams", table(COST_HEAD, [cost_row(g) for g in groups(results, streams)])]
    parts.append("## Where ours is not the best")
    lost = losses(results)
    parts.append("\n".join(lost) if lost else "In the medians above, against these clients: nowhere. What is missing below is missing from this comparison too.")
    if "vllm-bench (Rust)" in results["missing"]:
        parts.append("The nearest rival is not here: vllm-bench, written in Rust, is a native client as ours is. Give its binary with `--vllm-bench` to see it.")
    faults = [f for f in results["faults"] if any(r["fault"] == f for r in results["runs"])]
    if faults:
        sample = next(r for r in results["runs"] if r["fault"])
        parts += [
            "## When a tenth of the streams misbehaves",
            f"{sample['requests']} requests of {sample['tokens']} tokens, {sample['streams']} at a time, no warm-up, one run each. "
            "A run that reports a broken stream as a success has counted what was never generated.",
        ]
        if "two_tokens" in faults:
            parts.append("In truth events came 17 ms apart in every stream; where an event held two tokens, a token took 8.5 ms. "
                         "The figure of ours here is the gap between events; its result states the time per token beside it.")
        for fault in faults:
            parts += [f"### {results['faults'][fault].capitalize()} (`{fault}`)", table(FAULT_HEAD, fault_rows(results, fault))]
    parts += many_cores()
    parts += [
        "## What this cannot tell",
        "Loopback only: a network's delay falls on all clients alike. One shape of load; `lmxbench calibrate` measures ours at more. "
        "The engine's time between its clock reading and the end of its write is charged to every client. "
        "Clients are started with the options of their documentation and two workers where they have workers; someone who knows one better may get more out of it.",
    ]
    return "\n\n".join(parts) + "\n"


def main(argv):
    source = pathlib.Path(argv[0]) if argv else HERE / "results.json"
    target = pathlib.Path(argv[1]) if len(argv) > 1 else HERE.parent / "docs" / "accuracy.md"
    target.write_text(render(json.loads(source.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
