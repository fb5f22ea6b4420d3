"""Every word and code that a report shows, in one sentence each. ``docs/race-report.md`` carries the same list."""

STANDINGS: dict[str, str] = {
    "win": "it beats every other entry: each difference is proven and larger than counts here",
    "tie": "nobody beats it, and it is proven equal, within what counts here, to all others that nobody beats",
    "undecided": "nobody beats it, but it is not proven to be ahead of all others that nobody beats",
    "beaten": "at least one entry is proven to be better by more than counts here",
    "noise-limited": "the A/A control saw differences where there are none, so no difference is believed",
    "limit": "the least program that can do the job; a reference line, never a winner",
    "twin": "the second entry of one contestant: the A/A control that yields the noise floor",
    "void": "no round of it counts; the reasons stand below",
    "shown": "this metric is shown and not judged",
}

OUTCOMES: dict[str, str] = {
    "a-wins": "the first entry is proven to be better",
    "b-wins": "the second entry is proven to be better",
    "tie": "proven equal within what counts here",
    "undecided": "neither proven to differ nor proven to be equal",
    "noise-limited": "the A/A control failed, so that no difference is believed",
    "no-data": "too few rounds count for both",
}

CODES: dict[str, str] = {
    # Why a response, a window or a trial does not count.
    "status": "a response had another status than the one expected",
    "length": "a response had another length than the one expected",
    "hash": "a response had another body than the one expected",
    "malformed": "a response could not be parsed",
    "reset": "a connection was reset with a request under way",
    "closed-early": "a connection was closed with a request under way",
    "connect": "a connection could not be made",
    "timeout": "no response came in time",
    "no-requests": "no request was answered",
    "no-windows": "no window of the trial counts",
    "no-figure": "the trial did not yield this figure",
    "not-run": "the trial did not take place",
    "start-failed": "the contestant did not start or was not ready in time",
    "died": "the contestant ended during the round",
    "leaked": "processes of the contestant outlived it",
    "rest-busy": "the contestant worked in the windows of the others",
    "engine-aborted": "the load generator ended before its schedule did",
    "generator-bound": "the load generator, not the contestant, was the bottleneck",
    # Why a whole round does not count.
    "interference": "the machine was taken away from the race for longer than the rule allows",
    # Why a figure is missing, or what qualifies it.
    "too-few-requests": "too few requests for this percentile",
    "rate-not-held": "fewer requests were sent than the rate asks for",
    "drain-incomplete": "requests were still under way at the edge of a window",
    "warming-up": "the figure was still improving during the measured windows",
    "slowing-down": "the figure was getting worse during the measured windows",
    "no-steady-state": "the figure changed during the measured windows and did not settle",
    "too-short": "too few windows to tell whether the figure was steady",
    # Why a contestant is absent.
    "missing-tool": "a command that it needs is not on PATH",
    "missing-package": "a package that it needs is not installed",
    "build-failed": "it could not be built",
    "unsupported": "this machine or this suite can't run it",
}


def explained(code: str) -> str:
    """What a code means; the code itself where this version does not know it."""
    return CODES.get(code, code)
