"""What the benches of protocols ask for, and what they make of runs."""

import random
from pathlib import Path

import pytest
from benches.goals import Measured
from benches.peers.commands import Job, argv
from benches.peers.install import OTHERS, command, product
from benches.protocols import codings, costs, http1, http2, http3, lingering, serving
from benches.protocols.costs import Series
from benches.protocols.progress import Progress, duration
from benches.protocols.servers import Place, Server
from benches.protocols.visiting import Visit, document, failures, per_request

from photofinish.contest.loading import load_suite
from photofinish.testbed.certificates import Certificates

PROGRAM = Path("/opt/program")
PLACE = Place(PROGRAM, Certificates(Path("/ca"), Path("/certificate"), Path("/key")), Path("/nowhere"))


def job(version: str, **more: object) -> Job:
    return Job("https://127.0.0.1:1/test/100", 10, 0.25, version=version, streams=32, ca="/ca", **more)  # type: ignore[arg-type]


def test_every_client_is_asked_for_the_same_streams() -> None:
    for name, version, flag in [
        ("photofinish", "2", ["--streams", "32"]),
        ("photofinish", "3", ["--http", "3"]),
        ("h2load", "2", ["-m32"]),
        ("oha-http3", "3", ["-p", "32"]),
        ("quinn-client", "3", ["--streams", "32"]),
        ("quiche-client", "3", ["--streams", "32"]),
    ]:
        line = argv(name, PROGRAM, job(version))
        assert line is not None
        assert " ".join(flag) in " ".join(line)


@pytest.mark.parametrize(("name", "version"), [("wrk", "2"), ("hey", "3"), ("h2load", "3"), ("quinn-client", "2")])
def test_a_version_that_a_client_does_not_speak_is_no_load(name: str, version: str) -> None:
    assert argv(name, PROGRAM, job(version)) is None


def test_a_quarter_of_a_second_is_asked_for_as_such() -> None:
    for name, said in [("photofinish", "250ms"), ("h2load", "250ms"), ("oha", "250ms"), ("quinn-client", "0.25")]:
        assert said in (argv(name, PROGRAM, job("3" if name == "quinn-client" else "2")) or [])


def test_every_peer_is_installed_by_something() -> None:
    for name in OTHERS:
        assert command(name)
    assert product("oha-http3") != product("quinn-client")


def series(ours: list[float | None], other: list[float | None], peer: str) -> Series:
    return Series({"photofinish": ours, peer: other})


def test_a_round_without_both_figures_is_no_pair() -> None:
    found = series([1.0, None, 3.0], [2.0, 2.0, None], "h2load").ratio("photofinish", "h2load")
    assert found == Measured(0.5)


def test_a_client_that_always_failed_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fails(client: costs.Client, _job: Job) -> float:
        tried.append(client.name)
        raise costs.RunError("it fell over")

    monkeypatch.setattr(costs, "steady_us", fails)
    seen = Series()
    for _ in range(4):
        seen.take("h2load", costs.Client("h2load", "h2load", PROGRAM), job("2"))
    assert (tried, seen.costs, seen.reasons) == (["h2load"] * 2, {"h2load": [None] * 4}, {"h2load": "it fell over"})


def test_what_starting_costs_is_not_in_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_client: costs.Client, asked: Job) -> costs.Spent:
        requests = asked.requests or 1010
        return costs.Spent(requests, 5000.0 + 3.0 * requests)

    monkeypatch.setattr(costs, "run", run)
    assert costs.steady_us(costs.Client("one", "h2load", PROGRAM), job("2")) == pytest.approx(3.0)


def test_a_figure_that_comes_late_gets_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = iter([costs.Spent(1, 100.0), costs.Spent(101, 300.0), costs.Spent(1, 100.0)])

    def finish(_running: object) -> costs.Spent:
        try:
            return next(spent)
        except StopIteration:
            raise costs.RunError("it hung") from None

    monkeypatch.setattr(lingering, "start", lambda *_: None)
    monkeypatch.setattr(lingering, "_until_quiet", lambda *_: None)
    monkeypatch.setattr(lingering, "finish", finish)
    seen, late = Series(), lingering.Lingering()
    client = costs.Client("oha-http3", "oha-http3", PROGRAM, lingers=True)
    for _ in range(2):
        late.take(seen, client, job("3"))
    assert seen.costs == {"oha-http3": [None, None]}
    late.collect()
    assert (seen.costs, seen.reasons) == ({"oha-http3": [2.0, None]}, {"oha-http3": "it hung"})


def test_a_failure_is_told_by_its_reasons_or_its_last_line() -> None:
    assert costs.last_words('{"requests": {"failed": {"protocol": 1}}}', "") == '{"protocol": 1}'
    assert costs.last_words("1\n", "began\nError: UnknownIssuer\n\n") == "Error: UnknownIssuer"
    assert costs.last_words("", "") == "no word"


def test_the_goal_of_a_server_is_the_mean_of_its_cells_round_by_round() -> None:
    seen = {cell: Series() for cell in http2.cells()}
    for cell, figures in seen.items():
        share = 0.25 if cell.streams > 10 else 1.0
        figures.costs = {"photofinish": [share] * 6, "h2load": [1.0] * 6}
    goals = http2.goals(seen)
    assert len(goals) == 6
    assert goals[0].measured is not None
    assert goals[0].measured.value == pytest.approx(0.5)
    assert "6 of 12 within; worst 1.00" in goals[0].what
    assert "0.250 [0.250, 0.250] · 0.25 / 1.00" in http2.text(seen)


def test_without_a_peer_its_goals_are_not_measured_and_the_table_says_why() -> None:
    seen = {(name, load): Series() for name in http3.SERVERS for load in http3.LOADS}
    for figures in seen.values():
        figures.costs = {"photofinish": [1.0] * 6}
        figures.add("oha-http3", None, "oha-http3 is not here")
    assert {goal.outcome() for goal in http3.goals(seen)} == {"not measured"}
    assert "Without a figure: oha-http3 is not here." in http3.text(seen)


def test_the_origin_is_held_against_each_peer_both_ways() -> None:
    seen = serving.Seen()
    for key in ((protocol, load) for protocol in serving.PROTOCOLS for load in serving.LOADS):
        seen.windows[key] = Series({"origin": [1.0] * 6, "nghttpd": [2.0] * 6, "nginx": [1.0] * 6})
        seen.runs[key] = Series({"origin": [1.0] * 6})
    outcomes = [goal.outcome() for goal in serving.goals(seen)]
    assert outcomes == ["met", "not measured", "**missed**", "not measured"] * 6
    assert "2.000 [2.000, 2.000]" in serving.text(seen)


def window(target: int, **more: object) -> dict[str, object]:
    return {"target": target, "failed": {}, "cpu_ns": 5000, "requests": 5, **more}


def test_windows_with_a_failure_or_in_the_warm_up_do_not_count() -> None:
    events: list[dict[str, object]] = [
        {"event": "cycle", "phase": "warmup", "windows": [window(0, cpu_ns=9_000_000)]},
        {"event": "cycle", "phase": "measure", "windows": [window(0), window(1, failed={"status": 1})]},
        {"event": "cycle", "phase": "measure", "windows": [window(0, cpu_ns=None), window(1, cpu_ns=10_000)]},
        {"event": "target", "target": 0, "failure_example": None},
        {"event": "target", "target": 1, "failure_example": "status: 404"},
    ]
    assert per_request(events) == {0: 1.0, 1: 2.0}
    assert failures(events) == {1: "status: 404"}


def test_a_visit_asks_all_servers_alike_each_by_its_protocol() -> None:
    servers = [Server("origin", "h2", 1, 11), Server("nginx", "h2+tls", 2, 12)]
    asked = document(PLACE, servers, Visit("/test/100", 10, 32, 4, 1))
    assert [target["protocol"] for target in asked["targets"]] == ["h2", "h2+tls"]
    assert asked["load"] == {"mode": "closed", "connections": 10, "streams": 32}
    assert asked["expect"]["body_bytes"] == 100
    assert all(sorted(order) == [0, 1] for phase in asked["phases"] for order in phase["order"])


def test_the_shortened_suite_is_the_suite_but_for_its_warm_up(tmp_path: Path) -> None:
    ours, other = load_suite("codings"), load_suite(codings.shortened(tmp_path))
    assert other.parameters == {**ours.parameters, "warmup_s": codings.WARMUP_S}
    assert (other.cells, other.metrics) == (ours.cells, ours.metrics)


def test_every_cell_that_is_raced_is_one_of_the_suite() -> None:
    known = {cell.id for cell in load_suite("codings").cells}
    assert set(codings.cells(codings.SIZES, (*codings.FRESH_CODINGS, *codings.STORED_CODINGS))) <= known


def test_without_races_the_text_says_why() -> None:
    nothing = codings.Seen(None, None, ("the race of a, b ended with 3: no word",))
    assert codings.goals(nothing) == []
    assert codings.text(nothing) == "Without a figure: the race of a, b ended with 3: no word."


def test_more_instructions_than_before_miss_the_goal() -> None:
    key = ("load", "epoll")
    seen = http1.Seen({key: Series({"now": [1.0] * 6, "before": [1.0] * 6})}, {key: {"now": 1030.0, "before": 1000.0}})
    assert [goal.outcome() for goal in http1.goals(seen)] == ["met", "**missed**"]
    assert "| 1,030 | 1,000 |" in http1.text(seen)


def test_the_time_left_follows_the_pace_so_far() -> None:
    progress = Progress({"http2": 100.0, "http3": 50.0}, began=0.0)
    progress.begin("http3")
    assert progress.line(0.0, 200.0) == "http3: 0 % · all: 67 % · 1 min 40 s left"
    assert progress.line(1.0, 300.0) == "http3: 100 % · all: 100 % · 0 s left"


@pytest.mark.parametrize(("seconds", "words"), [(7.4, "7 s"), (370, "6 min 10 s"), (725, "12 min")])
def test_spans_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_orders_are_of_all_and_differ() -> None:
    chance = random.Random(1)  # noqa: S311 - an order, reproducible on purpose
    seen = {tuple(costs.shuffled(chance, ["a", "b", "c"])) for _ in range(50)}
    assert len(seen) == 6
