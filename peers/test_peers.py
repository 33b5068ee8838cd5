"""Tests of the arithmetic and of the parsers, without a server or a client.

  python3 -m unittest discover -s peers
"""

import json
import os
import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import clients
import document
import measure
import process
import truth

MS = 10**6


def record(recv, sends, finish=None, **more):
    """A line of the engine's books, times in ms."""
    return {
        "recv_unix_ns": recv * MS, "recv_source": "kernel", "outcome": "done", "output_tokens": len(sends),
        "finish_unix_ns": (finish if finish is not None else sends[-1] if sends else 0) * MS,
        "events": {"sent_unix_ns": [s * MS for s in sends], "tokens": [1] * len(sends)}, **more,
    }


class Truth(unittest.TestCase):
    def test_quantile_is_type_7(self):
        self.assertEqual(truth.quantile([4, 1, 3, 2], 0.5), 2.5)
        self.assertEqual(truth.quantile([1, 2, 3, 4, 5], 0.99), 4.96)
        self.assertEqual(truth.quantile([7], 0.99), 7)
        self.assertIsNone(truth.quantile([], 0.5))

    def test_sigma_is_the_sample_one(self):
        self.assertEqual(truth.summary([1, 3])["sigma"], 2 ** 0.5)
        self.assertIsNone(truth.summary([1])["sigma"])
        self.assertIsNone(truth.summary([]))

    def test_only_the_last_requests_are_timed_whatever_their_order_in_the_books(self):
        books = [record(i, [i + 1]) for i in range(10)]
        random.Random(1).shuffle(books)
        self.assertEqual([r["recv_unix_ns"] // MS for r in truth.timed(books, 3)], [7, 8, 9])
        self.assertEqual(len(truth.timed(books, 99)), 10)

    def test_times_of_a_known_request(self):
        r = record(100, [150, 167, 184])
        self.assertEqual(truth.ttfts([r]), [50])
        self.assertEqual(truth.gaps([r]), [17, 17])
        self.assertEqual(truth.mean_gaps([r]), [17])

    def test_a_request_without_a_token_has_no_times(self):
        r = record(100, [], finish=120)
        self.assertEqual((truth.ttfts([r]), truth.gaps([r]), truth.mean_gaps([r])), ([], [], []))

    def test_faulty_and_aborted_requests_are_no_truth(self):
        books = [record(1, [2]), record(1, [2], fault="reset"), record(1, [2], outcome="aborted")]
        self.assertEqual(len(truth.sound(books)), 1)

    def test_streams_in_flight(self):
        self.assertEqual(truth.in_flight([]), (0, None))
        self.assertEqual(truth.in_flight([record(0, [10]), record(0, [10])]), (2, 2))
        self.assertEqual(truth.in_flight([record(0, [10]), record(10, [20])]), (1, 1))
        most, mean = truth.in_flight([record(0, [10]), record(5, [10])])
        self.assertEqual((most, mean), (2, 1.5))
        self.assertEqual(truth.in_flight([record(0, [10]), record(90, [100])]), (1, 1), "idle time in between is not counted")

    def test_load_held(self):
        full = [record(0, [10, 20, 30], finish=30), record(0, [10, 20, 30], finish=30)]
        self.assertEqual(truth.load_held(full, 2, 10), 1)
        self.assertEqual(truth.load_held(full, 4, 10), 0.5)
        later = full + [record(100, [110, 120, 130], finish=130), record(100, [110, 120, 130], finish=130)]
        self.assertEqual(truth.load_held(later, 2, 10), 1, "a pause between batches is not load that was lost")
        self.assertIsNone(truth.load_held([], 2, 10))

    def test_a_common_delay_is_an_error_of_ttft_and_none_of_itl(self):
        books = [record(0, [50, 67, 84, 101]), record(3, [50, 67, 84, 101])]
        late = [record(r["recv_unix_ns"] // MS, [s // MS + 9 for s in truth.sent(r)]) for r in books]
        ttft = truth.errors(truth.summary(truth.ttfts(late)), truth.summary(truth.ttfts(books)))
        itl = truth.errors(truth.summary(truth.gaps(late)), truth.summary(truth.gaps(books)))
        self.assertEqual((ttft["mean"], ttft["p99"]), (9, 9))
        self.assertEqual((itl["mean"], itl["sigma"], itl["p99"]), (0, 0, 0))

    def test_no_report_has_no_error(self):
        self.assertIsNone(truth.errors(None, truth.summary([1, 2])))


class Parsers(unittest.TestCase):
    """Each parser on a small report in its client's form."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.place = clients.Place("http://127.0.0.1:1", "m", self.folder.name, "tok", "venvs")
        self.load = clients.Load(streams=2, requests=2, warmup=1, tokens=3)

    def write(self, name, *lines):
        path = pathlib.Path(self.folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), encoding="utf-8")

    def check(self, client, **want):
        got = client.parse(self.place, self.load)
        self.assertEqual({k: got[k] for k in want}, want)

    def test_ours(self):
        self.write("run/run.json", {"lmxbench": {"verdict": {"status": "INVALID", "codes": [
            {"code": "failed_requests", "level": "INVALID"}, {"code": "simulated", "level": "INFO"}]}}})
        stream = {"outcome": "ok", "outputTokens": 3, "t": {"send": 5 * MS}, "events": {"t": [25 * MS, 42 * MS, 59 * MS]}}
        self.write("run/requests.jsonl", {"phase": "warmup", **stream}, {"phase": "timed", **stream}, {"phase": "timed", "outcome": "truncated"})
        self.check(clients.LmxBench("x"), ok=1, failed=1, output_tokens=3, ttft=[20], itl=[17, 17],
                   verdict="INVALID", codes=["failed_requests"], outcomes={"ok": 1, "truncated": 1})

    def test_aiperf(self):
        metrics = {"time_to_first_token": {"value": 12.5}, "inter_chunk_latency": {"value": [16, 18]}, "output_sequence_length": {"value": 3}}
        self.write("aiperf/profile_export.jsonl",
                   {"metadata": {"benchmark_phase": "warmup"}, "metrics": metrics},
                   {"metadata": {"benchmark_phase": "profiling"}, "metrics": metrics},
                   {"metadata": {"benchmark_phase": "profiling"}, "metrics": {}, "error": {"code": 500}})
        self.check(clients.AIPerf(), ok=1, failed=1, output_tokens=3, ttft=[12.5], itl=[16, 18])

    def test_guidellm_leaves_the_warm_up_out_where_it_does_not_itself(self):
        request = lambda start, ttft: {"request_start_time": start, "output_tokens": 3, "time_to_first_token_ms": ttft, "inter_token_latency_ms": 17}
        self.write("guidellm.json", {"benchmarks": [{"requests": {
            "successful": [request(3, 30), request(1, 10)], "errored": [request(2, None)], "incomplete": None, "total": None}}]})
        self.check(clients.GuideLLM(), ok=1, failed=1, unasked=1, ttft=[30], itl=[17], itl_per="request")

    def test_evalscope(self):
        import sqlite3
        path = pathlib.Path(self.folder.name, "evalscope/m/parallel_2_number_2")
        path.mkdir(parents=True)
        with sqlite3.connect(path / "benchmark_data.db") as db:
            db.execute("create table result(success, completion_tokens, first_chunk_latency, inter_token_latencies)")
            db.execute("insert into result values(1, 3, 0.025, '[0.016, 0.018]')")
            db.execute("insert into result values(0, null, null, null)")
        self.check(clients.EvalScope(), ok=1, failed=1, output_tokens=3, ttft=[25], itl=[16, 18])

    def test_vllm(self):
        self.write("vllm/result.json", {"completed": 1, "failed": 1, "num_prompts": 2, "total_output_tokens": 3,
                                        "ttfts": [0.025, 0.0], "itls": [[0.016], []], "errors": ["", "reset"]})
        self.check(clients.VLLMBench(), ok=1, failed=1, output_tokens=3, ttft=[25], itl=[16])

    def test_a_report_that_is_missing_is_said_so(self):
        with self.assertRaises(OSError):
            clients.AIPerf().parse(self.place, self.load)

    def test_every_client_is_told_the_whole_load(self):
        for client in (clients.LmxBench("x"), clients.AIPerf(), clients.GuideLLM(), clients.EvalScope(), clients.VLLMBench(), clients.VLLMBench("y")):
            words = " ".join(client.command(clients.Load(64, 128, 64, 77), self.place)) + "".join(
                p.read_text() for p in pathlib.Path(self.folder.name).glob("prompts.*"))
            self.assertIn("64", words, client.name)
            self.assertIn("77", words, client.name)
            self.assertIn("127.0.0.1:1", words, client.name)


class Process(unittest.TestCase):
    def test_a_client_is_accounted_for_with_its_children(self):
        spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}]); print('done')"
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "log")
            got = process.run([sys.executable, "-c", code], log, timeout=60)
            self.assertEqual(pathlib.Path(log).read_text(), "done\n")
        self.assertEqual(got.code, 0)
        self.assertGreaterEqual(got.cpu, 0.3)
        self.assertGreater(got.peak_memory(), 1 << 20)
        self.assertAlmostEqual(got.cpu_at(got.started), 0, delta=0.05)

    def test_a_client_that_hangs_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            got = process.run([sys.executable, "-c", "import time; time.sleep(600)"], os.path.join(folder, "log"), timeout=0.5)
        self.assertTrue(got.timed_out)
        self.assertLess(got.code, 0)

    def test_processor_time_between_samples_lies_on_a_line(self):
        run = process.Run()
        run.started, run.samples = 100.0, [(101.0, 2.0, 5), (103.0, 4.0, 9)]
        self.assertEqual([run.cpu_at(t) for t in (100, 100.5, 102, 200)], [0, 1, 3, 4])
        self.assertEqual(run.peak_memory(), 9)


def finished(client, streams, fault=None, repeat=0, ttft=1.0, cpu=10.0, **reported):
    """A run as results.json has it."""
    zero = {"mean": ttft, "sigma": 0.1, "p50": ttft, "p99": 2 * ttft}
    return {
        "client": client, "streams": streams, "requests": 2 * streams, "warmup": streams, "tokens": 100, "fault": fault, "repeat": repeat,
        "loadAverageBefore": 1.0, "cpuUsPerEvent": cpu, "cpuUsPerEventWithStart": 2 * cpu, "firstRequestSeconds": 0.1, "peakMemoryBytes": 5e7,
        "othersCores": 0.1, "engineLateP99Us": 80.0, "itlPer": "gap", "ttftErrorMs": zero, "itlErrorMs": zero,
        "reported": {"ok": 90, "failed": 10, "outputTokens": 9000, "itlMs": zero, **reported},
        "true": {"requests": 100, "faulty": 10, "outputTokens": 9030, "inFlightMost": streams, "inFlightMean": streams - 0.5, "loadHeld": 0.99},
    }


def results(*runs):
    return {
        "sessions": [{"began": "2026-11-30T12:00:00Z", "seconds": 600, "skipped": 0, "clients": ["lmxbench"]}], "machine": {"cpu": "EPYC", "cores": 2, "memoryGiB": 24, "kernel": "6.18", "python": "3.11"},
        "missing": {"other": "no package"}, "versions": {"lmxbench": "0.1.0"}, "profile": "fixed", "intervalMs": 17.0,
        "faults": measure.FAULTS, "runs": list(runs),
    }


class Document(unittest.TestCase):
    def test_medians_ours_first_and_losses_said(self):
        text = document.render(results(
            finished("AIPerf", 64, ttft=50.0, cpu=5.0), finished("lmxbench", 64, ttft=0.1, verdict="VALID", codes=[]),
            finished("lmxbench", 64, repeat=1, ttft=0.3, verdict="WARN", codes=["client_late"]),
        ))
        self.assertLess(text.index("| lmxbench | 2 of 2 | +0.20"), text.index("| AIPerf | 1 of 1 | +50.0"))
        self.assertIn("VALID 1 ×, WARN 1 ×", text)
        self.assertIn("- 64 streams, CPU per event: AIPerf 5.00 µs, ours 10.0 µs", text)
        self.assertIn("**The machine was shared** with other work: other processes took 0.10 cores", text)
        self.assertIn("Not measured: other (no package)", text)

    def test_disturbed_runs_count_only_where_there_is_no_other(self):
        noisy = {**finished("AIPerf", 64, ttft=900.0), "othersCores": 1.5}
        noisier = {**finished("AIPerf", 64, repeat=1, ttft=990.0), "othersCores": 1.9}
        text = document.render(results(noisier, noisy, finished("lmxbench", 64, ttft=0.1), {**finished("lmxbench", 64, repeat=1, ttft=70.0), "othersCores": 1.5}))
        self.assertIn("| AIPerf | 1 of 2 ² | +900", text)
        self.assertIn("| lmxbench | 1 of 2 | +0.10", text)

    def test_a_client_without_a_report_is_said_so(self):
        broken = {k: v for k, v in finished("EvalScope", 20, fault="error_mid").items() if k not in ("reported", "true")}
        broken["noReport"] = "ValueError: no database"
        text = document.render(results(
            finished("lmxbench", 64), finished("lmxbench", 20, fault="error_mid", outcomes={"ok": 90, "stream_error": 10}, verdict="INVALID", codes=["failed_requests"]), broken,
        ))
        self.assertIn("no report: ValueError", text)
        self.assertIn("stream_error 10; verdict INVALID (failed_requests)", text)

    def test_numbers(self):
        self.assertEqual([document.number(x) for x in (None, 0, 123.4, 12.34, 1.234, -0.5)], ["–", "0.00", "123", "12.3", "1.23", "−0.50"])
        self.assertEqual([document.number(x, signed=True) for x in (0.0, -0.001, 3.0)], ["0.00", "0.00", "+3.00"])

    def test_the_document_is_the_one_that_the_results_make(self):
        home = pathlib.Path(document.HERE)
        kept = json.loads((home / "results.json").read_text(encoding="utf-8"))
        self.assertEqual((home.parent / "docs" / "accuracy.md").read_text(encoding="utf-8"), document.render(kept))


class Plan(unittest.TestCase):
    def test_every_client_meets_every_load_in_every_repeat(self):
        args = measure.arguments(["--streams", "64,1000", "--repeats", "3"])
        use = [clients.LmxBench("x"), clients.AIPerf()]
        jobs = measure.plan(args, use)
        clean = [(c.name, load.streams, repeat) for c, load, fault, repeat in jobs if not fault]
        self.assertEqual(len(clean), 2 * 2 * 3)
        self.assertEqual(len(set(clean)), len(clean))
        self.assertEqual({(c.name, fault) for c, _, fault, _ in jobs if fault}, {(c.name, f) for c in use for f in measure.FAULTS})
        self.assertNotEqual([c[0] for c in clean[:2]], [c[0] for c in clean[4:6]], "the first client is not first in every repeat")

    def test_a_client_measured_anew_replaces_its_earlier_runs(self):
        earlier, now = results(finished("lmxbench", 64), finished("GuideLLM", 64)), results()
        earlier["missing"] = {"GuideLLM": "not at hand"}
        got = measure.join(earlier, now, [clients.GuideLLM()])
        self.assertEqual([r["client"] for r in got["runs"]], ["lmxbench"])
        self.assertEqual(got["missing"], {"other": "no package"})
        now["machine"] = {**now["machine"], "cores": 16}
        with self.assertRaises(SystemExit):
            measure.join(earlier, now, [])

    def test_figures_keep_six_digits(self):
        self.assertEqual(measure.rounded({"a": [1.23456789, 7], "b": None}), {"a": [1.23457, 7], "b": None})


if __name__ == "__main__":
    unittest.main()
