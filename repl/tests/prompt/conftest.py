"""What the tests of the prompt share."""

import pytest
from terminal import Terminal


@pytest.fixture
def terminal(tmp_path):
    """A session with colours, at its first prompt."""
    with Terminal(folder=tmp_path) as session:
        yield session.ready()


@pytest.fixture
def start(tmp_path):
    """Starts further sessions in one folder."""
    begun = []

    def begin(*arguments, **options):
        session = Terminal(arguments, folder=tmp_path, **options)
        begun.append(session)
        return session

    yield begin
    for session in begun:
        session.process.close(force=True)
