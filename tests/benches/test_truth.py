"""The calculated truth of a freeze, and what the peers' words are read as."""

import pytest
from benches.peers.commands import READERS
from benches.truth.percentiles import ranked, simulate


def test_without_a_freeze_the_response_time_is_the_delay() -> None:
    assert simulate(1000, [2e6, 5e6, 1e6], [], 10) == [1e6, 2e6, 5e6]


def test_whoever_means_to_send_in_a_freeze_waits_for_its_end() -> None:
    # Arrivals at 0, 10, 20, 30 ms; frozen from 5 to 25 ms.
    assert simulate(100, [1e6] * 4, [(5e6, 25e6)], 10) == [1e6, 1e6, 6e6, 16e6]


def test_an_answer_that_would_be_due_in_a_freeze_leaves_at_its_end() -> None:
    assert simulate(100, [8e6], [(5e6, 25e6)], 10) == [25e6]


def test_arrivals_without_a_free_connection_wait_for_one() -> None:
    # Each takes 25 ms, one is due each 10 ms, two go at once.
    assert simulate(100, [25e6] * 4, [], 2) == [25e6, 25e6, 30e6, 30e6]


def test_a_percentile_is_the_value_that_the_share_does_not_exceed() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [ranked(values, share) for share in (0.0, 0.5, 0.99, 1.0)] == [1, 50, 99, 100]


WRK = """Running 1s test @ http://127.0.0.1:1/
  Latency Distribution
     50%    2.09ms
     99%  750.00us
  4176 requests in 1.01s, 314.02KB read
  Non-2xx or 3xx responses: 176
Requests/sec:   4140.21
"""
H2LOAD = """finished in 1.00s, 4407.00 req/s, 331.39KB/s
requests: 4407 total, 4417 started, 4407 done, 4400 succeeded, 7 failed, 0 errored, 0 timeout
                     min         max         mean         sd        +/- sd
time to 1st byte:     2.15ms      2.34ms      2.32ms        59us    90.00%
"""
HEY = """  Requests/sec:	4392.1064
Response time histogram:
  0.002 [1]	|
  0.003 [4097]	|■■■
  50%% in 0.0021 secs
  resp wait:	0.0022 secs, 0.0020 secs, 0.0067 secs
Status code distribution:
  [200]	4090 responses
  [500]	3 responses
Error distribution:
  [5]	Get "http://127.0.0.1:1/": EOF
"""


@pytest.mark.parametrize(
    ("name", "text", "requests", "accounted", "rate"),
    [("wrk", WRK, 4000, 4176, 4140.21), ("h2load", H2LOAD, 4400, 4407, 4407.0), ("hey", HEY, 4090, 4098, 4392.1064)],
)
def test_the_words_of_a_peer_are_read(name: str, text: str, requests: int, accounted: int, rate: float) -> None:
    said = READERS[name](text)
    assert (said.requests, said.accounted, said.rate) == (requests, accounted, rate)


def test_percentiles_and_first_bytes_come_in_nanoseconds() -> None:
    assert READERS["wrk"](WRK).percentiles == pytest.approx({"50": 2.09e6, "99": 750e3})
    assert READERS["h2load"](H2LOAD).first_byte == pytest.approx(2.32e6)
    assert READERS["hey"](HEY).samples == 4098
