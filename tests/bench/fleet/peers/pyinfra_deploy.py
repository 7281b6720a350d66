"""The workloads as a pyinfra deploy; the workload is in the environment."""

import json
import os
from pathlib import Path

from pyinfra.operations import files, server

setting = json.loads(Path(os.environ["BENCH_SETTING"]).read_text())
workload = os.environ["BENCH_WORKLOAD"]
if workload == "conn":
    server.shell(name="conn", commands=["echo ok"])
else:
    if workload == "cold":
        files.put(name="push", src=setting["archive"], dest="/tmp/charm.tar.gz", force=True)
        server.shell(name="unpack", commands=["tar xzf /tmp/charm.tar.gz -C /tmp"])
    for number in range(10 if workload == "hooks10" else 1):
        server.shell(name=f"hook {number}", commands=[f"sh {setting['hook']}"])
