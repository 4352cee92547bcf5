"""The tests of the main package."""

from fixtures import (  # noqa: F401  # pytest finds them by their names
    no_thread_outlives_its_file,
    no_thread_outlives_its_test,
    playbook_installed,
    pytest_collection,
    shared,
)
