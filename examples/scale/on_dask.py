"""Check a table of repositories with Dask: python on_dask.py repositories.parquet findings/"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from dask.distributed import Client, LocalCluster
from partition import Item, partitions, read_items, write_partition


def check(items: Iterable[Item], folder: str, client: Client, size: int = 500) -> int:
    """Write the findings below `folder`, one Parquet file for each partition; count them."""
    # The workers need not have this file: its functions travel with the tasks.
    client.upload_file(str(Path(__file__).with_name("partition.py")))
    futures = [
        client.submit(write_partition, number, several, folder, pure=False, retries=2)
        for number, several in enumerate(partitions(items, size))
    ]
    return sum(client.gather(futures))


def main(table: str, folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        print(check(read_items(Path(table)), folder, client), "findings")


if __name__ == "__main__":
    main(*sys.argv[1:])
