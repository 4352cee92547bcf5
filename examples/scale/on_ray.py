"""Check a table of repositories with Ray: python on_ray.py repositories.parquet findings/"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import ray
from partition import Item, partitions, read_items, write_partition


def check(items: Iterable[Item], folder: str, size: int = 500) -> int:
    """Write the findings below `folder`, one Parquet file for each partition; count them."""
    remote = ray.remote(max_retries=2)(write_partition)
    tasks = [
        remote.remote(number, several, folder)
        for number, several in enumerate(partitions(items, size))
    ]
    return int(sum(ray.get(tasks)))


def main(table: str, folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    here = str(Path(__file__).parent)
    environment = {"env_vars": {"PYTHONPATH": here}}
    ray.init(num_cpus=2, runtime_env=environment, include_dashboard=False, log_to_driver=False)
    print(check(read_items(Path(table)), folder), "findings")
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
