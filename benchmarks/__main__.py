"""All benchmarks in turn: python -m benchmarks [NAME ...]. Without names: those that need nothing but this machine."""

from __future__ import annotations

import subprocess
import sys

# vllm_compare needs an engine, learning needs runs; both are for asking by name.
USUAL = ("packing", "sampling", "baselines")
ALL = (*USUAL, "vllm_compare", "learning")


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ALL]
    if unknown:
        print(f"benchmarks: no benchmark {unknown[0]!r}; choose from {', '.join(ALL)}", file=sys.stderr)
        return 2
    for name in names or USUAL:
        print(f"== {name}", flush=True)
        done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
