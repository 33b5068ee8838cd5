"""The load generators: how each is started for a load and what it reports.

A client's parse returns a dictionary:
  ok, failed      requests by its own account, warm-up left out
  output_tokens   tokens by its own account, of the ok ones
  ttft, itl       lists in ms; itl is one value per gap, or, where itl_per is
                  "request", one mean per request
  unasked         warm-up requests among those it reports, where it mixes them
  verdict, codes  what the client says about itself, where it says anything
"""

import glob
import json
import os
import sqlite3
from dataclasses import dataclass


@dataclass
class Load:
    """One run: so many requests of so many tokens, streams at a time."""
    streams: int
    requests: int
    warmup: int
    tokens: int


@dataclass
class Place:
    """Where a run happens: the engine, an empty folder, a small tokenizer."""
    url: str
    model: str
    folder: str
    tokenizer: str
    venvs: str

    def path(self, name):
        return os.path.join(self.folder, name)


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def prompts(load):
    return [f"request {i}: count upwards in words and do not stop" for i in range(load.requests + load.warmup)]


OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
COMMON = {"OPENAI_API_KEY": "x", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "DO_NOT_TRACK": "1"}


class LmxBench:
    name, package = "lmxbench", None

    def __init__(self, binary):
        self.binary = binary

    def command(self, load, place):
        return [
            self.binary, "run", "--base-url", place.url, "--concurrency", str(load.streams),
            "--warmup", str(load.warmup // load.streams), "--iterations", str(load.requests // load.streams),
            "--max-tokens", str(load.tokens), "--ignore-eos", "--allow-failures", "--quiet",
            "--prompt", prompts(load)[0], "--out", place.path("run/run.json"),
        ]

    env = {}

    def parse(self, place, load):
        document = read_json(place.path("run/run.json"))
        verdict = document["lmxbench"]["verdict"]
        out = {
            "ok": 0, "failed": 0, "output_tokens": 0, "ttft": [], "itl": [], "outcomes": {},
            "verdict": verdict["status"], "codes": [c["code"] for c in verdict["codes"] or [] if c["level"] != "INFO"],
        }
        with open(place.path("run/requests.jsonl"), encoding="utf-8") as f:
            for line in f:
                self.take(json.loads(line), out)
        return out

    @staticmethod
    def take(request, out):
        if request["phase"] != "timed":
            return
        outcome = request["outcome"]
        out["outcomes"][outcome] = out["outcomes"].get(outcome, 0) + 1
        if outcome != "ok":
            out["failed"] += 1
            return
        out["ok"] += 1
        out["output_tokens"] += request.get("outputTokens") or 0
        times = request["events"]["t"]
        out["ttft"].append((times[0] - request["t"]["send"]) / 1e6)
        out["itl"] += [(b - a) / 1e6 for a, b in zip(times, times[1:])]


class AIPerf:
    name, package = "AIPerf", "aiperf"
    env = {}

    def command(self, load, place):
        warm = ["--warmup-request-count", str(load.warmup)] if load.warmup else []
        return [
            f"{place.venvs}/aiperf/bin/aiperf", "profile", "--model", place.model, "--url", place.url,
            "--endpoint-type", "chat", "--streaming", "--tokenizer", place.tokenizer, "--use-server-token-count",
            "--isl", "32", "--osl", str(load.tokens), "--extra-inputs", "ignore_eos:true",
            "--concurrency", str(load.streams), "--request-count", str(load.requests), *warm,
            "--random-seed", "42", "--workers-max", "2", "--no-gpu-telemetry", "--no-server-metrics",
            "--ui-type", "none", "--export-level", "records", "--artifact-dir", place.path("aiperf"),
        ]

    def parse(self, place, load):
        out = {"ok": 0, "failed": 0, "output_tokens": 0, "ttft": [], "itl": []}
        with open(place.path("aiperf/profile_export.jsonl"), encoding="utf-8") as f:
            for line in f:
                record = json.loads(line)
                if record["metadata"].get("benchmark_phase") == "warmup":
                    continue
                if record.get("error"):
                    out["failed"] += 1
                    continue
                metrics = record["metrics"]
                value = lambda name: metrics.get(name, {}).get("value")
                out["ok"] += 1
                out["output_tokens"] += value("output_sequence_length") or 0
                if value("time_to_first_token") is not None:
                    out["ttft"].append(value("time_to_first_token"))
                out["itl"] += value("inter_chunk_latency") or []
        return out


class GuideLLM:
    name, package = "GuideLLM", "guidellm"
    env = {**OFFLINE, "GUIDELLM__MAX_WORKER_PROCESSES": "2"}

    def command(self, load, place):
        with open(place.path("prompts.jsonl"), "w", encoding="utf-8") as f:
            for text in prompts(load):
                f.write(json.dumps({"prompt": text, "output_tokens_count": load.tokens}) + "\n")
        warm = f",warmup={load.warmup}" if load.warmup else ""
        columns = {"text_column": "prompt", "output_tokens_count_column": "output_tokens_count"}
        return [
            f"{place.venvs}/guidellm/bin/guidellm", "run", "--backend",
            f"kind=openai_http,target={place.url},model={place.model},request_format=/v1/chat/completions,http2=false,validate_backend=false",
            "--profile", f"kind=concurrent,streams={load.streams}{warm}",
            "--constraint", f"kind=max_requests,count={load.requests + load.warmup}",
            "--data", f"kind=json_file,path={place.path('prompts.jsonl')}",
            "--data-column-mapper", json.dumps({"kind": "generative_column_mapper", "column_mappings": columns}),
            "--output", f"kind=json,path={place.path('guidellm.json')}", "--disable-console-interactive",
        ]

    def parse(self, place, load):
        benchmark = read_json(place.path("guidellm.json"))["benchmarks"][0]
        requests = {kind: benchmark["requests"][kind] or [] for kind in ("successful", "errored", "incomplete")}
        # Its warm-up ends only if an update happens to come at the very request
        # after it; where none does, warm-up requests are reported too. The later
        # ones are those that were asked for.
        every = sorted(
            [(r["request_start_time"] or 0, kind, r) for kind, some in requests.items() for r in some], key=lambda entry: entry[0],
        )[-load.requests:]
        ok = [r for _, kind, r in every if kind == "successful"]
        return {
            "ok": len(ok), "failed": len(every) - len(ok), "unasked": sum(map(len, requests.values())) - len(every),
            "output_tokens": sum(r["output_tokens"] or 0 for r in ok), "itl_per": "request",
            "ttft": [r["time_to_first_token_ms"] for r in ok if r["time_to_first_token_ms"] is not None],
            "itl": [r["inter_token_latency_ms"] for r in ok if r["inter_token_latency_ms"] is not None],
        }


class EvalScope:
    name, package = "EvalScope", "evalscope"
    env = OFFLINE

    def command(self, load, place):
        with open(place.path("prompts.txt"), "w", encoding="utf-8") as f:
            f.write("\n".join(prompts(load)) + "\n")
        warm = ["--warmup-num", str(load.warmup)] if load.warmup else []
        return [
            f"{place.venvs}/evalscope/bin/evalscope", "perf", "--api", "openai",
            "--url", place.url + "/v1/chat/completions", "--model", place.model,
            "--dataset", "line_by_line", "--dataset-path", place.path("prompts.txt"),
            "--parallel", str(load.streams), "--number", str(load.requests), *warm,
            "--max-tokens", str(load.tokens), "--stream", "--no-test-connection",
            "--extra-args", '{"ignore_eos": true}', "--outputs-dir", place.path("evalscope"), "--no-timestamp",
        ]

    def parse(self, place, load):
        (path,) = glob.glob(place.path("evalscope/*/*/benchmark_data.db"))
        out = {"ok": 0, "failed": 0, "output_tokens": 0, "ttft": [], "itl": []}
        with sqlite3.connect(path) as db:
            rows = db.execute("select success, completion_tokens, first_chunk_latency, inter_token_latencies from result")
            for success, tokens, first, between in rows:
                if not success:
                    out["failed"] += 1
                    continue
                out["ok"] += 1
                out["output_tokens"] += tokens or 0
                if first is not None:
                    out["ttft"].append(first * 1e3)
                out["itl"] += [x * 1e3 for x in json.loads(between or "[]")]
        return out


class VLLMBench:
    """vLLM's own client: the Python one of the package, or the Rust binary,
    which takes the same options."""

    env = {**OFFLINE, "VLLM_NO_USAGE_STATS": "1"}

    def __init__(self, binary=None):
        self.binary = binary
        self.name = "vllm-bench (Rust)" if binary else "vllm bench serve"
        self.package = None if binary else "vllm"

    def command(self, load, place):
        start = [self.binary, "--no-steady-state"] if self.binary else [f"{place.venvs}/vllm/bin/vllm", "bench", "serve"]
        warm = ["--num-warmups", str(load.warmup)] if load.warmup else []
        return [
            *start, "--backend", "openai-chat", "--base-url", place.url, "--endpoint", "/v1/chat/completions",
            "--model", place.model, "--tokenizer", place.tokenizer, "--dataset-name", "random",
            "--random-input-len", "32", "--random-output-len", str(load.tokens), "--ignore-eos",
            "--num-prompts", str(load.requests), "--max-concurrency", str(load.streams), "--request-rate", "inf", *warm,
            "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "50,90,99",
            "--save-result", "--save-detailed", "--result-dir", place.path("vllm"), "--disable-tqdm",
        ]

    def parse(self, place, load):
        (path,) = glob.glob(place.path("vllm/*.json"))
        result = read_json(path)
        failed = [bool(e) for e in result.get("errors") or []]
        ok = [i for i in range(len(result["ttfts"])) if not (failed[i] if i < len(failed) else False)]
        return {
            "ok": result["completed"], "failed": result.get("failed", result["num_prompts"] - result["completed"]),
            "output_tokens": result["total_output_tokens"],
            "ttft": [result["ttfts"][i] * 1e3 for i in ok],
            "itl": [x * 1e3 for i in ok for x in result["itls"][i]],
        }
