"""The tests of equipage-faults."""

from fixtures import (  # noqa: F401  # pytest finds them by their names
    no_thread_outlives_its_file,
    no_thread_outlives_its_test,
    pytest_collection,
    shared,
)
