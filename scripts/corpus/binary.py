"""A table, records in protobuf's wire format, and a stream that is compressed already."""

from collections.abc import Iterable
from typing import Any

from corpus.chance import TODAY, Chance
from corpus.patients import SEEDS, patients

TABLE_SEED, IMAGE_SEED = 0x637376, 0x6A7067
WARDS = ("A1", "A2", "B1", "B2", "C1", "ICU", "ER", "OR", "Maternity", "Paediatrics")
UNITS = {"heart-rate": "1/min", "temperature": "Cel", "systolic": "mm[Hg]", "diastolic": "mm[Hg]", "saturation": "%"}

# JPEG (ITU-T T.81): start of image, the JFIF segment, the end.
JPEG_HEAD = bytes.fromhex("ffd8ffe000104a46494600010100004800480000")
JPEG_END = bytes.fromhex("ffd9")


def table(rows: int = 4_000) -> bytes:
    """CSV (RFC 4180, lines end in CR LF): measurements at patients' beds, in the order of time."""
    chance = Chance(TABLE_SEED)
    ids = [chance.uuid() for _ in range(120)]
    lines = ["time,patient,ward,bed,kind,value,unit,checked"]
    second = 0
    for _ in range(rows):
        second += chance.between(1, 40)
        kind = chance.one_of(tuple(UNITS))
        time = f"{TODAY.isoformat()}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z"
        person = chance.below(len(ids))
        bed = f"{WARDS[person % len(WARDS)]},{person // len(WARDS) + 1}"
        checked = "yes" if chance.often(70) else "no"
        lines.append(f"{time},{ids[person]},{bed},{kind},{_value(chance, kind)},{UNITS[kind]},{checked}")
    return "".join(f"{line}\r\n" for line in lines).encode()


def _value(chance: Chance, kind: str) -> str:
    around = {"heart-rate": 76, "temperature": 37, "systolic": 122, "diastolic": 79, "saturation": 96}[kind]
    spread = chance.between(-30, 30) + chance.between(-30, 30)
    return f"{around + spread / 60:.1f}" if kind in ("temperature", "saturation") else str(around + spread * 2 // 5)


def records() -> bytes:
    """The 64 records of ``patients-64.json`` as a protobuf message; its fields stand in the corpus's README."""
    return b"".join(_bytes(1, _patient(patient)) for patient in patients(64, SEEDS[64]))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3) + _varint(number)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str | None) -> bytes:
    return b"" if value is None else _bytes(field, value.encode())


def _id(value: str) -> bytes:
    return _bytes(1, bytes.fromhex(value.replace("-", "")))


def _many(field: int, values: Iterable[bytes]) -> bytes:
    return b"".join(_bytes(field, value) for value in values)


def _address(address: dict[str, Any]) -> bytes:
    names = ("zip", "number", "street", "city", "state", "country", "type")
    return _id(address["id"]) + b"".join(_text(field, address[name]) for field, name in enumerate(names, start=2))


def _phone(phone: dict[str, Any]) -> bytes:
    return _id(phone["id"]) + _text(2, phone["number"]) + _text(3, phone["type"])


def _reached(person: dict[str, Any], first_field: int) -> bytes:
    return _many(first_field, map(_address, person["addresses"])) + _many(
        first_field + 1, map(_phone, person["phoneNumbers"])
    )


def _contact(contact: dict[str, Any]) -> bytes:
    return _id(contact["id"]) + _text(2, contact["relationship"]) + _text(3, contact["name"]) + _reached(contact, 4)


def _patient(patient: dict[str, Any]) -> bytes:
    names = ("status", "name", "gender", "birthDay", "deceasedOn", "maritalStatus", "preferredLanguage")
    cents = round(patient["balance"] * 100)
    # sint64: small negative numbers stay short.
    balance = _number(9, cents << 1 if cents >= 0 else (-cents << 1) - 1)
    texts = b"".join(_text(field, patient[name]) for field, name in enumerate(names, start=2))
    ends = _text(10, patient["activeFrom"]) + _text(11, patient["activeThru"])
    return (
        _id(patient["id"])
        + texts
        + balance
        + ends
        + _many(12, map(_contact, patient["contacts"]))
        + _reached(patient, 13)
    )


def image(bytes_of_scan: int = 150_000) -> bytes:
    """What a codec meets in a photograph: a JPEG's markers around bytes without any pattern. No picture decodes from it."""
    chance = Chance(IMAGE_SEED)
    scan = b"".join(chance.word().to_bytes(8, "little") for _ in range(bytes_of_scan // 8))
    # Within a scan a zero follows each 0xff, which is what tells data from markers.
    return JPEG_HEAD + scan.replace(b"\xff", b"\xff\x00") + JPEG_END
