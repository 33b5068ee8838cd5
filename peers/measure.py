"""Measure load generators against the simulated engine and keep the figures.

  python3 peers/measure.py --lmxbench build/lmxbench [--out peers/results.json]
      [--streams 64,256,1000] [--repeats 3] [--minutes 20] [--only NAME,…]
      [--vllm-bench PATH] [--no-faults] [--add]

Clients take turns: every client at every load, then all of them again, so that
what else the machine does falls on all alike. Each run has an engine of its
own. When the minutes are over no further run begins. --add puts the runs
beside those already in the file, for a client that was not at hand. The truth is the engine's
books: the clock just before each write, and the kernel's stamp of each
request's arrival.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

import clients
import engine
import process
import truth

HERE = pathlib.Path(__file__).resolve().parent
VENVS = HERE.parent / "build" / "peers"
TOKENS = 100

# Faults of a tenth of the streams, with the words for the document.
FAULTS = {
    "error_mid": "an error object inside a 200 stream",
    "cut_mid_chunk": "the connection is cut inside a chunk",
    "two_tokens": "two tokens in every event",
}
FAULT_LOAD = clients.Load(streams=20, requests=100, warmup=0, tokens=50)
FAULT_EVERY = 10


def load_for(streams):
    """Twice as many requests as streams after one warm-up of all; one round at
    a thousand, where slow clients need minutes for it."""
    rounds = 2 if streams < 1000 else 1
    return clients.Load(streams=streams, requests=rounds * streams, warmup=streams, tokens=TOKENS)


def measure(client, load, lmxbench, tokenizer, fault=None):
    """One run and its figures."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        with engine.Engine(lmxbench, fault, FAULT_EVERY if fault else None) as server:
            place = clients.Place(server.url, server.model, folder, tokenizer, str(VENVS))
            before = os.getloadavg()[0]
            took = process.run(client.command(load, place), place.path("log"), env={**clients.COMMON, **client.env}, cwd=folder)
            records, stats = server.records(), server.stats()
        out = {
            "client": client.name, "streams": load.streams, "requests": load.requests, "warmup": load.warmup,
            "tokens": load.tokens, "fault": fault, "loadAverageBefore": before, "exitCode": took.code,
        }
        out.update(costs(took, records, stats))
        try:
            out.update(compare(client.parse(place, load), records, load, fault))
        except (OSError, ValueError, KeyError, TypeError, IndexError) as problem:
            with open(place.path("log"), encoding="utf-8", errors="replace") as f:
                tail = [line.strip() for line in f if line.strip()][-3:]
            why = "it ran past its time" if took.timed_out else f"{type(problem).__name__}: {problem}"
            out["noReport"] = why.replace(folder, "…")
            out["logTail"] = [line.replace(folder, "…")[:200] for line in tail]
        return out


def costs(took, records, stats):
    """Processor time, memory, start and the engine's own account of itself."""
    arrivals = [r["recv_unix_ns"] / 1e9 for r in records]
    events = sum(len(truth.sent(r)) for r in records)
    first = min(arrivals, default=None)
    start = took.cpu_at(first) if first else None
    return {
        "seconds": took.ended - took.started,
        "cpuSeconds": took.cpu,
        "cpuSecondsBeforeFirstRequest": start,
        "cpuUsPerEvent": (took.cpu - start) / events * 1e6 if events else None,
        "cpuUsPerEventWithStart": took.cpu / events * 1e6 if events else None,
        "firstRequestSeconds": first - took.started if first else None,
        "peakMemoryBytes": took.peak_memory(),
        "othersCores": max(0.0, took.busy - took.cpu - stats["cpu_seconds"]) / (took.ended - took.started),
        "engineLateP99Us": stats["step_start_lateness"]["p99_us"],
        "events": events,
    }


def compare(reported, records, load, fault):
    """What the client said beside what was. Errors of times are stated where
    every request is sound: clients differ on which broken ones they time."""
    count = reported["ok"] + reported["failed"]
    mine = truth.timed(records, load.requests)
    good = truth.sound(mine)
    per_request = reported.get("itl_per") == "request"
    gaps = truth.mean_gaps(good) if per_request else truth.gaps(good)
    most, mean = truth.in_flight(mine)
    return {
        "reported": {
            "requests": count, "ok": reported["ok"], "failed": reported["failed"], "outputTokens": reported["output_tokens"],
            "ttftMs": truth.summary(reported["ttft"]), "itlMs": truth.summary(reported["itl"]),
            **{key: reported[key] for key in ("verdict", "codes", "outcomes", "unasked") if key in reported},
        },
        "true": {
            "requests": len(mine), "faulty": sum(1 for r in mine if r.get("fault")),
            "outputTokens": sum(r["output_tokens"] for r in mine),
            "ttftMs": truth.summary(truth.ttfts(good)), "itlMs": truth.summary(gaps),
            "inFlightMost": most, "inFlightMean": mean,
            "loadHeld": truth.load_held(mine, load.streams, engine.INTERVAL_MS),
            "arrivalsStamped": all(r["recv_source"] == "kernel" for r in mine),
        },
        "itlPer": "request" if per_request else "gap",
        "ttftErrorMs": None if fault else truth.errors(truth.summary(reported["ttft"]), truth.summary(truth.ttfts(good))),
        "itlErrorMs": None if fault else truth.errors(truth.summary(reported["itl"]), truth.summary(gaps)),
    }


def available(args):
    """The clients that can be run here, ours first, and why others cannot."""
    wanted = [clients.LmxBench(args.lmxbench), clients.AIPerf(), clients.GuideLLM(), clients.EvalScope(), clients.VLLMBench()]
    if args.vllm_bench:
        wanted.append(clients.VLLMBench(os.path.abspath(args.vllm_bench)))
    only = args.only.split(",") if args.only else None
    use, missing = [], {}
    for client in wanted:
        if only and client.name not in only:
            continue
        if client.package and not (VENVS / client.package / "bin").exists():
            missing[client.name] = f"no environment in build/peers/{client.package}: see its install.log there"
            continue
        use.append(client)
    if not args.vllm_bench:
        missing["vllm-bench (Rust)"] = "no package of that name on PyPI or crates.io; give its binary with --vllm-bench"
    return use, missing


def versions(use, lmxbench):
    out = {"lmxbench": subprocess.run([lmxbench, "--version"], capture_output=True, text=True, check=True).stdout.split("version", 1)[-1].strip()}
    for client in use:
        if client.package:
            pinned = (HERE / "requirements" / f"{client.package}.txt").read_text().splitlines()
            out[client.name] = next(line.split("==")[1] for line in pinned if line.lower().startswith(client.package + "=="))
    return out


def machine():
    cpu = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu, "cores": os.cpu_count(), "memoryGiB": round(memory / 2**30), "kernel": platform.release(),
        "python": platform.python_version(),
    }


def make_tokenizer():
    """A small tokenizer, made once with the Python of a client that can."""
    folder = VENVS / "tokenizer"
    if not (folder / "tokenizer.json").exists():
        for name in ("aiperf", "guidellm", "evalscope", "vllm"):
            python = VENVS / name / "bin" / "python"
            if python.exists() and subprocess.run([python, HERE / "tokenizer.py", folder], check=False).returncode == 0:
                break
    return str(folder)


def plan(args, use):
    """All runs in order, each as (client, load, fault, repeat)."""
    jobs = []
    streams = [int(n) for n in args.streams.split(",")]
    for repeat in range(args.repeats):
        turn = use[repeat % len(use):] + use[:repeat % len(use)]
        if repeat == 1 and args.faults:
            jobs += [(client, FAULT_LOAD, fault, 0) for fault in FAULTS for client in use]
        jobs += [(client, load_for(n), None, repeat) for n in streams for client in turn]
    if args.repeats == 1 and args.faults:
        jobs += [(client, FAULT_LOAD, fault, 0) for fault in FAULTS for client in use]
    return jobs


def describe(run):
    if "noReport" in run:
        return f"no report: {run['noReport']}"
    ttft, itl = run["ttftErrorMs"], run["itlErrorMs"]
    text = f"ok {run['reported']['ok']}, failed {run['reported']['failed']}"
    if ttft and itl:
        text += f", TTFT mean {ttft['mean']:+.2f} p99 {ttft['p99']:+.2f} ms, ITL p99 {itl['p99']:+.2f} ms"
    return f"{text}, load {100 * (run['true']['loadHeld'] or 0):.0f} %, {run['cpuUsPerEvent'] or 0:.0f} µs/event, {run['seconds']:.0f} s, others {run['othersCores']:.2f} cores"


def arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lmxbench", default=str(HERE.parent / "build" / "lmxbench"))
    p.add_argument("--out", default=str(HERE / "results.json"))
    p.add_argument("--streams", default="64,256,1000")
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--minutes", type=float, default=20)
    p.add_argument("--only", default="")
    p.add_argument("--vllm-bench", default="")
    p.add_argument("--add", action="store_true")
    p.add_argument("--no-faults", dest="faults", action="store_false")
    args = p.parse_args(argv)
    args.lmxbench = os.path.abspath(args.lmxbench)
    return args


def main(argv):
    args = arguments(argv)
    process.allow_files()
    use, missing = available(args)
    tokenizer = make_tokenizer()
    began = time.time()
    session = {"began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)), "clients": [c.name for c in use], "skipped": 0}
    result = {
        "machine": machine(), "missing": missing, "versions": versions(use, args.lmxbench), "profile": engine.PROFILE,
        "intervalMs": engine.INTERVAL_MS, "faults": FAULTS, "sessions": [], "runs": [],
    }
    if args.add:
        result = join(clients.read_json(args.out), result, use)
    result["sessions"].append(session)
    for client, load, fault, repeat in plan(args, use):
        if time.time() - began > args.minutes * 60:
            session["skipped"] += 1
            continue
        run = measure(client, load, args.lmxbench, tokenizer, fault)
        run["repeat"], run["session"] = repeat, len(result["sessions"])
        result["runs"].append(run)
        print(f"{fault or 'clean'} c{load.streams} {client.name}: {describe(run)}", flush=True)
        session["seconds"] = round(time.time() - began)
        with open(args.out + ".part", "w", encoding="utf-8") as f:
            json.dump(rounded(result), f, indent=1, sort_keys=True)
            f.write("\n")
    shutil.move(args.out + ".part", args.out)


def join(earlier, result, use):
    """Earlier results, less those of the clients that are measured anew."""
    if earlier["machine"] != result["machine"]:
        sys.exit("--add: the results in the file are of another machine")
    names = {client.name for client in use}
    earlier["runs"] = [r for r in earlier["runs"] if r["client"] not in names]
    earlier["missing"] = {name: why for name, why in {**earlier["missing"], **result["missing"]}.items() if name not in names}
    earlier["versions"].update(result["versions"])
    return earlier


def rounded(value):
    """Six significant digits are more than any of it deserves."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return value


if __name__ == "__main__":
    main(sys.argv[1:])
