import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photofinish.errors import EnvironmentError_
from photofinish.testbed.stop import Interrupted, StopFlag
from photofinish.trial.turns.lines import LONGEST_LINE, MOST_WORDS, Garbled, Pipes, Silent, Talk, words


@pytest.fixture
def pipes(tmp_path: Path) -> Pipes:
    return Pipes.make(tmp_path)


@pytest.fixture
def talk(pipes: Pipes) -> Iterator[Talk]:
    with Talk(pipes) as open_:
        yield open_


def tell(pipes: Pipes, text: bytes) -> None:
    """What the contestant writes; the pipe is held open by the test's own talk."""
    end = os.open(pipes.answers, os.O_WRONLY | os.O_NONBLOCK)
    try:
        assert os.write(end, text) == len(text)
    finally:
        os.close(end)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_lines_are_heard_one_by_one_and_what_is_beyond_them_is_surplus(pipes: Pipes, talk: Talk) -> None:
    tell(pipes, b'{"ready":true}\n{"bytes":1}\n{"by')
    assert talk.hear(5, lambda: None) == {"ready": True}
    assert talk.hear(5, lambda: None) == {"bytes": 1}
    assert talk.surplus == '{"by'


def test_what_was_said_before_the_end_is_heard_after_it(pipes: Pipes, talk: Talk) -> None:
    tell(pipes, b'{"ready":true}\n')
    assert talk.hear(5, lambda: "ended with status 0") == {"ready": True}
    with pytest.raises(Silent, match="it ended with status 0"):
        talk.hear(5, lambda: "ended with status 0")


@pytest.mark.parametrize(
    "line", [b"", b"hello", b"[1]", b"null", b'"x"', b"\xff\xfe", b"[" * 50_000, b"9" * 5_000, b'{"a":' * 10_000]
)
def test_a_line_that_is_no_object_is_garbled_however_deep_or_long(pipes: Pipes, talk: Talk, line: bytes) -> None:
    tell(pipes, line[:60_000] + b"\n")
    with pytest.raises(Garbled, match="no JSON object") as error:
        talk.hear(5, lambda: None)
    assert len(str(error.value)) < 2_000
    assert talk.surplus is None


def test_a_line_without_an_end_is_given_up(pipes: Pipes, talk: Talk) -> None:
    stop = threading.Event()

    def flood() -> None:
        while not stop.is_set():
            try:
                tell(pipes, b"x" * 4096)
            except BlockingIOError:
                time.sleep(0.001)

    writer = threading.Thread(target=flood)
    writer.start()
    try:
        with pytest.raises(Garbled, match=f"more than {LONGEST_LINE} bytes"):
            talk.hear(20, lambda: None)
    finally:
        stop.set()
        writer.join()


def test_time_that_is_up_and_a_wish_to_stop_end_the_waiting(talk: Talk) -> None:
    with pytest.raises(Silent, match=r"no answer within 0\.01 s"):
        talk.hear(0.01, lambda: None)
    stop = StopFlag()
    stop.set()
    with pytest.raises(Interrupted):
        talk.hear(20, lambda: None, stop)


def test_commands_that_nobody_reads_do_not_hold_the_laboratory(talk: Talk) -> None:
    def say_much() -> None:
        for _ in range(10_000):
            talk.say("save " + "x" * 1_000)

    with pytest.raises(Silent, match="does not read its commands"):
        say_much()


@pytest.mark.parametrize("harm", ["commands", "answers", "file", "link"])
def test_pipes_that_are_gone_or_something_else_are_told_and_no_descriptor_is_lost(
    pipes: Pipes, tmp_path: Path, harm: str
) -> None:
    gone = pipes.commands if harm == "commands" else pipes.answers
    gone.unlink()
    if harm == "file":
        gone.write_bytes(b"")
    elif harm == "link":
        os.mkfifo(tmp_path / "elsewhere")
        gone.symlink_to(tmp_path / "elsewhere")
    before = open_files()
    with pytest.raises(Silent, match=f"its FIFO {gone.name}"):
        Talk(pipes)
    assert open_files() == before


def test_pipes_that_can_not_be_made_name_the_place_and_the_mend(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentError_, match=r"nowhere/commands: the FIFO can't be made \(No such file.*; free space"
    ):
        Pipes.make(tmp_path / "nowhere")


@given(st.one_of(st.text(alphabet=st.characters(), max_size=2 * MOST_WORDS), st.integers(), st.none()))
def test_words_can_be_stored_and_shown_whatever_was_said(said: object) -> None:
    shown = words(said)
    assert shown.isprintable()
    assert shown.encode() if shown else said == ""
    assert len(shown) <= 10 * MOST_WORDS + 1


def test_words_keep_letters_of_all_languages_and_cut_what_is_long() -> None:
    assert words("größer als ∞") == "größer als ∞"
    assert words("\ud800\x1b[31m\n") == r"\ud800\x1b[31m\n"
    assert words("x" * 1_000) == "x" * MOST_WORDS + "…"
