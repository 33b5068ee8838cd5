"""Make a virtual environment for each client under build/peers, with the exact
versions of requirements/. A client that cannot be installed is reported and
left out; the others are measured all the same.

  python3 peers/install.py [NAME…]
"""

import hashlib
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
VENVS = HERE.parent / "build" / "peers"


def install(name):
    """True when the environment holds what the requirements say."""
    wanted = HERE / "requirements" / f"{name}.txt"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    home = VENVS / name
    mark = home / "installed.sha256"
    if mark.exists() and mark.read_text() == digest:
        return True
    print(f"installing {name} into {home}", flush=True)
    if not (home / "bin" / "python").exists():
        venv.create(home, with_pip=True)
    log = VENVS / f"{name}.install.log"
    with open(log, "wb") as sink:
        # The list is complete, so nothing needs to be resolved.
        code = subprocess.run(
            [home / "bin" / "pip", "install", "--no-deps", "--prefer-binary", "-r", wanted], stdout=sink, stderr=subprocess.STDOUT,
        ).returncode
    if code:
        print(f"{name} cannot be installed, see {log}", file=sys.stderr)
        return False
    mark.write_text(digest)
    return True


def main(names):
    VENVS.mkdir(parents=True, exist_ok=True)
    known = sorted(p.stem for p in (HERE / "requirements").glob("*.txt"))
    for name in names or known:
        if name not in known:
            sys.exit(f"{name} is not one of {', '.join(known)}")
        install(name)


if __name__ == "__main__":
    main(sys.argv[1:])
