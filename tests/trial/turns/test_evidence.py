from dataclasses import replace
from typing import Any

import pytest

from photofinish.trial.turns.evidence import ACKNOWLEDGEMENT_SLACK, Account, prove
from photofinish.trial.turns.parameters import TurnsParameters

SIZE = 1000
HASH = "ab" * 32
UPLOAD = TurnsParameters(direction="upload", bytes=SIZE)
DOWNLOAD = TurnsParameters(direction="download", bytes=SIZE)
CODED = TurnsParameters(direction="download", bytes=SIZE, patients=4, coding="zstd", protocol="h2+tls")
ENCODED_SIZE = 300
GOOD: dict[str, Any] = {"bytes": SIZE, "status": 200}


def part(**changes: Any) -> dict[str, Any]:
    return {"name": "file", "filename": "payload.bin", "bytes": SIZE, "sha256": HASH, **changes}


def seen(*parts: dict[str, Any], completed: int = 1, **changes: Any) -> dict[str, Any]:
    last = {
        "bytes": sum(each["bytes"] for each in parts) + 242,
        "chunked": True,
        "sha256": "cd" * 32,
        "parts": list(parts),
    }
    return {"requests": 1, "completed": completed, "refused": {}, "last": last, **changes}


def code(
    parameters: TurnsParameters, answer: dict[str, Any], evidence: dict[str, Any], saved: Any = None
) -> str | None:
    void = prove(parameters, answer, evidence, wanted_sha256=HASH, saved=saved).void
    return void.code if void else None


def test_an_upload_that_did_what_it_claims_is_proven_and_its_framing_known() -> None:
    proof = prove(UPLOAD, GOOD, seen(part()), wanted_sha256=HASH, saved=None)
    assert proof.void is None
    assert (proof.framing_bytes, proof.received_sha256) == (242, HASH)


def test_a_body_without_a_form_counts_as_the_file() -> None:
    last = {"bytes": SIZE, "sha256": HASH, "parts": [], "chunked": False}
    proof = prove(UPLOAD, GOOD, {"completed": 1, "refused": {}, "last": last}, wanted_sha256=HASH, saved=None)
    assert (proof.void, proof.framing_bytes) == (None, 0)


@pytest.mark.parametrize(
    ("answer", "evidence", "wanted"),
    [
        ({"error": "no such file"}, seen(completed=0), "failed"),
        ({"bytes": SIZE, "status": 404}, seen(part(), refused={"404": 1}, completed=0), "wrong-status"),
        ({"bytes": SIZE}, seen(part()), "wrong-status"),
        (GOOD, seen(part(), refused={"404": 1}, completed=0), "wrong-status"),
        ({"bytes": SIZE + 1, "status": 200}, seen(part()), "bytes-mismatch"),
        ({"bytes": None, "status": 200}, seen(part()), "bytes-mismatch"),
        (GOOD, seen(completed=0), "bytes-mismatch"),
        (GOOD, seen(part(), completed=2), "bytes-mismatch"),
        (GOOD, seen(part(name="upload")), "wrong-form"),
        (GOOD, seen(part(), part(filename="another")), "wrong-form"),
        (GOOD, seen(part(filename=None)), "wrong-form"),
        (GOOD, seen(part(bytes=SIZE - 1)), "wrong-bytes"),
        (GOOD, seen(part(sha256="00" * 32)), "wrong-hash"),
    ],
)
def test_an_upload_that_did_not_is_void_for_its_own_reason(
    answer: dict[str, Any], evidence: dict[str, Any], wanted: str
) -> None:
    assert code(UPLOAD, answer, evidence) == wanted


@pytest.mark.parametrize(
    ("answer", "saved", "wanted"),
    [
        (GOOD, (SIZE, HASH), None),
        (GOOD, None, "nothing-saved"),
        (GOOD, (SIZE - 1, HASH), "wrong-bytes"),
        (GOOD, (SIZE, "00" * 32), "wrong-hash"),
        ({"error": "No space left on device"}, (SIZE // 2, "00" * 32), "failed"),
        ({"bytes": SIZE, "status": 500}, (SIZE, HASH), "wrong-status"),
    ],
)
def test_a_download_is_proven_by_what_was_saved(answer: dict[str, Any], saved: Any, wanted: str | None) -> None:
    assert code(DOWNLOAD, answer, {"requests": 1, "completed": 1, "refused": {}}, saved) == wanted


ACCOUNT = Account(
    repetitions=10,
    claimed_bytes=10 * SIZE,
    origin_bytes=10 * SIZE,
    requests=10,
    completed=10,
    connections=0,
    protocols={"http/1.1": 10},
    refused={},
    acked_bytes=None,
)


def test_an_account_that_agrees_counts_and_names_both_ends() -> None:
    assert ACCOUNT.void(UPLOAD) is None
    account = replace(ACCOUNT, claimed_bytes=1, origin_bytes=2)
    assert account.both_ends(UPLOAD) == {"sent": 1, "received": 2}
    assert account.both_ends(DOWNLOAD) == {"sent": 2, "received": 1}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"refused": {"413": 2}, "completed": 8}, "wrong-status"),
        ({"requests": 9, "completed": 9}, "bytes-mismatch"),
        ({"completed": 9}, "bytes-mismatch"),
        ({"requests": 11, "completed": 11}, "bytes-mismatch"),
        ({"claimed_bytes": 10 * SIZE - 1}, "bytes-mismatch"),
        ({"claimed_bytes": None}, "bytes-mismatch"),
        ({"origin_bytes": 10 * SIZE - 1}, "bytes-mismatch"),
        ({"protocols": {"http/1.1": 9, "h2": 1}}, "protocol-mismatch"),
        ({"connections": 6}, "wrong-connections"),
        ({"connections": 5}, None),
    ],
)
def test_an_account_that_does_not_agree_is_void_for_its_own_reason(changes: dict[str, Any], wanted: str | None) -> None:
    void = replace(ACCOUNT, **changes).void(UPLOAD)
    assert (void.code if void else None) == wanted


def test_each_repetition_has_a_connection_of_its_own_where_that_is_the_policy() -> None:
    new = UPLOAD.model_copy(update={"connection": "new"})
    assert replace(ACCOUNT, connections=10).void(new) is None
    for connections in (0, 9, 11):
        void = replace(ACCOUNT, connections=connections).void(new)
        assert void is not None
        assert void.code == "wrong-connections"


def test_a_download_that_was_not_acknowledged_is_void_beyond_what_may_be_under_way() -> None:
    body = 10 * (1 << 20)
    parameters = TurnsParameters(direction="download", bytes=1 << 20)
    account = replace(ACCOUNT, claimed_bytes=body, origin_bytes=body)
    assert replace(account, acked_bytes=body - ACKNOWLEDGEMENT_SLACK).void(parameters) is None
    void = replace(account, acked_bytes=body - ACKNOWLEDGEMENT_SLACK - 1).void(parameters)
    assert void is not None
    assert void.code == "bytes-mismatch"


CODED_ANSWER: dict[str, Any] = {**GOOD, "coding": "zstd", "records": 4}
CODED_SEEN: dict[str, Any] = {
    "requests": 1,
    "completed": 1,
    "refused": {},
    "protocols": {"h2+tls": 1},
    "codings": {"zstd": 1},
    "sent_body_bytes": ENCODED_SIZE,
}


def test_a_coded_download_is_proven_by_its_decoded_bytes_and_its_encoded_size_is_known() -> None:
    proof = prove(CODED, CODED_ANSWER, CODED_SEEN, wanted_sha256=HASH, saved=(SIZE, HASH))
    assert (proof.void, proof.encoded_bytes) == (None, ENCODED_SIZE)


@pytest.mark.parametrize(
    ("answer", "evidence", "wanted"),
    [
        ({}, {"protocols": {"http/1.1+tls": 1}}, "protocol-mismatch"),
        ({}, {"codings": {"identity": 1}}, "wrong-coding"),
        ({}, {"codings": {"zstd": 1, "br": 1}}, "wrong-coding"),
        ({}, {"codings": {}}, "wrong-coding"),
        ({"coding": "identity"}, {}, "wrong-coding"),
        ({"coding": None}, {}, "wrong-coding"),
        ({"records": 3}, {}, "wrong-records"),
        ({"records": None}, {}, "wrong-records"),
        ({"bytes": ENCODED_SIZE}, {}, "bytes-mismatch"),
        ({}, {"refused": {"406": 1}, "completed": 0}, "wrong-status"),
    ],
)
def test_a_coded_download_that_is_another_than_asked_for_is_void_for_its_own_reason(
    answer: dict[str, Any], evidence: dict[str, Any], wanted: str
) -> None:
    assert code(CODED, {**CODED_ANSWER, **answer}, {**CODED_SEEN, **evidence}, (SIZE, HASH)) == wanted


CODED_ACCOUNT = replace(
    ACCOUNT,
    origin_bytes=10 * ENCODED_SIZE,
    protocols={"h2+tls": 10},
    codings={"zstd": 10},
    claimed_codings={"zstd": 10},
    records=40,
    encoded_bytes=ENCODED_SIZE,
    staged_ns=900,
    timed_ns=1000,
)


def test_a_coded_account_counts_encoded_bytes_at_the_origin_and_decoded_ones_at_the_client() -> None:
    assert CODED_ACCOUNT.void(CODED) is None
    assert replace(CODED_ACCOUNT, timed_ns=None).void(CODED) is None


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"origin_bytes": 10 * SIZE}, "bytes-mismatch"),
        ({"origin_bytes": 10 * ENCODED_SIZE - 1}, "bytes-mismatch"),
        ({"claimed_bytes": 10 * ENCODED_SIZE}, "bytes-mismatch"),
        ({"codings": {"zstd": 9, "identity": 1}}, "wrong-coding"),
        ({"claimed_codings": {"gzip": 10}}, "wrong-coding"),
        ({"claimed_codings": {}}, "wrong-coding"),
        ({"protocols": {"h2": 10}}, "protocol-mismatch"),
        ({"records": 39}, "wrong-records"),
        ({"records": None}, "wrong-records"),
        ({"staged_ns": None}, "wrong-stages"),
        ({"staged_ns": 1001}, "wrong-stages"),
    ],
)
def test_a_coded_account_that_does_not_agree_is_void_for_its_own_reason(changes: dict[str, Any], wanted: str) -> None:
    void = replace(CODED_ACCOUNT, **changes).void(CODED)
    assert void is not None
    assert void.code == wanted
