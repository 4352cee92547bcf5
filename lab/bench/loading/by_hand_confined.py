"""As `by_hand.py`, and what is included must lie in the folder of the file that is loaded."""

from pathlib import Path

from by_hand import App, read


def load(path):
    own = Path(path).resolve()

    def find(folder, name):
        file = (folder / name).resolve()
        if not file.is_relative_to(own.parent):
            raise ValueError(f"{name} leads out of {own.parent}")
        return file

    return App.model_validate(read(own, find))
