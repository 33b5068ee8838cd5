"""Run a client and account for what it takes: processor time by wait4, memory
and processor time of its whole tree by samples of /proc (Linux)."""

import os
import resource
import signal
import subprocess
import time

SAMPLE_SECONDS = 0.25
OPEN_FILES = 20000
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def allow_files():
    """Raise the limit of open files where it can be raised."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (want, hard))


def stat(pid):
    """(parent, processor seconds with reaped children, resident bytes), or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), sum(map(int, fields[11:15])) / TICK, int(fields[21]) * PAGE


def tree(root):
    """(processor seconds, resident bytes) of a process and its descendants.
    Pages that processes share are counted in each."""
    every = {int(name): s for name in os.listdir("/proc") if name.isdigit() and (s := stat(name))}
    family, grown = {root}, True
    while grown:
        more = {pid for pid, s in every.items() if s[0] in family} - family
        family |= more
        grown = bool(more)
    mine = [every[pid] for pid in family if pid in every]
    return sum(s[1] for s in mine), sum(s[2] for s in mine)


def machine_busy():
    """Processor seconds that all cores spent on anything since boot."""
    with open("/proc/stat", encoding="utf-8") as f:
        fields = [int(x) for x in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICK  # without idle and iowait


class Run:
    """What a finished client took."""

    def __init__(self):
        self.samples = []  # (unix seconds, processor seconds, resident bytes)
        self.started = self.ended = self.cpu = self.others_cores = None
        self.code = self.timed_out = None

    def peak_memory(self):
        return max((s[2] for s in self.samples), default=None)

    def cpu_at(self, moment):
        """Processor seconds used until a moment, between two samples on a line."""
        before = (self.started, 0.0)
        for at, cpu, _ in self.samples:
            if at >= moment:
                share = (moment - before[0]) / max(at - before[0], 1e-9)
                return before[1] + (cpu - before[1]) * share
            before = (at, cpu)
        return before[1]


def run(argv, log, env=None, cwd=None, timeout=300):
    """Run a client to its end, its output in the file log."""
    out = Run()
    busy = machine_busy()
    own = time.process_time()
    with open(log, "wb") as sink:
        out.started = time.time()
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT, cwd=cwd,
            env={**os.environ, **(env or {})}, start_new_session=True, preexec_fn=allow_files,
        )
        due, deadline = 0.0, time.monotonic() + timeout
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            now = time.monotonic()
            if now > deadline:
                out.timed_out = True
                os.killpg(child.pid, signal.SIGKILL)  # its own session, started above
                _, status, usage = os.wait4(child.pid, 0)
                break
            if now >= due:
                cpu, memory = tree(child.pid)
                out.samples.append((time.time(), cpu, memory))
                due = now + SAMPLE_SECONDS
            time.sleep(0.02)
        out.ended = time.time()
    child.returncode = out.code = os.waitstatus_to_exitcode(status)
    out.cpu = usage.ru_utime + usage.ru_stime
    # Children that the client did not wait for are in no rusage, but in samples.
    out.cpu = max([out.cpu] + [s[1] for s in out.samples])
    out.busy = machine_busy() - busy - (time.process_time() - own)
    return out
