"""The simulated engine as a child process, and its books."""

import json
import subprocess
import urllib.request

# The step of the profile that every client is measured against.
PROFILE, INTERVAL_MS = "fixed", 17.0


class Engine:
    """A running engine. It ends when its standard input does, hence also when
    this process dies."""

    def __init__(self, lmxbench, fault=None, fault_every=None):
        args = [lmxbench, "sim", "--profile", PROFILE, "--until-stdin-ends"]
        if fault:
            args += ["--fault", fault, "--fault-every", str(fault_every)]
        self.child = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError("the simulated engine ended without telling its address")
        where = json.loads(line)
        self.url, self.model = where["url"], where["model"]

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read()

    def records(self):
        return [json.loads(line) for line in self.get("/sim/records").splitlines() if line]

    def stats(self):
        return json.loads(self.get("/sim/stats"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()
