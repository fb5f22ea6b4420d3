"""Patient records: the shape that the published comparison of codings documents, and the same as protobuf."""

import json
from typing import Any

from corpus import words
from corpus.chance import Chance

# Records to seed: of the first few thousand seeds the one whose file comes closest to the published length.
SEEDS = {1: 137, 4: 1321, 16: 1170, 64: 351, 512: 24}
PUBLISHED_BYTES = {1: 972, 4: 7_649, 16: 33_918, 64: 138_492, 512: 1_129_275}

Record = dict[str, Any]


def patients(count: int, seed: int) -> list[Record]:
    """So many records."""
    chance = Chance(seed << 16 | count)
    return [_patient(chance, alone=count == 1) for _ in range(count)]


def as_json(records: list[Record]) -> bytes:
    """A compact array in UTF-8."""
    return json.dumps(records, ensure_ascii=False, separators=(",", ":")).encode()


def _name(chance: Chance, *, female: bool) -> str:
    given = chance.one_of(words.GIVEN_FEMALE if female else words.GIVEN_MALE)
    middle = f" {chance.one_of('ABCDEFGHJKLMNPRSTVW')}." if chance.often(30) else ""
    return f"{given}{middle} {chance.one_of(words.FAMILY).replace('_', ' ')}"


def _address(chance: Chance) -> Record:
    city, state, zip_code = chance.one_of(words.PLACES)
    return {
        "id": chance.uuid(),
        "zip": f"{zip_code}{chance.below(100):02}",
        "number": str(chance.between(1, 9_999 if chance.often(40) else 400)),
        "street": f"{chance.one_of(words.STREETS)} {chance.weighted(words.STREET_KINDS)}",
        "city": city.replace("_", " "),
        "state": state.replace("_", " "),
        "country": "United States",
        "type": chance.weighted(words.ADDRESS_KINDS),
    }


def _phone(chance: Chance) -> Record:
    number = f"+1 {chance.between(201, 989)}-555-{chance.below(10_000):04}"
    return {"id": chance.uuid(), "number": number, "type": chance.weighted(words.PHONE_KINDS)}


def _contact(chance: Chance, *, alone: bool) -> Record:
    return {
        "id": chance.uuid(),
        "relationship": chance.weighted(words.RELATIONS),
        "name": _name(chance, female=chance.often(50)),
        "addresses": [_address(chance) for _ in range(1 if alone or chance.often(75) else 2)],
        "phoneNumbers": [_phone(chance) for _ in range(1 if alone else chance.between(1, 3))],
    }


def _patient(chance: Chance, *, alone: bool) -> Record:
    female = chance.often(52)
    status = chance.weighted(words.STATUSES)
    born = chance.day(1, 95)
    active_from = max(born, chance.day(0, 20))
    ended = max(active_from, chance.day(0, 6)) if status in ("deceased", "inactive") else None
    return {
        "id": chance.uuid(),
        "status": status,
        "name": _name(chance, female=female),
        "gender": "other" if chance.often(2) else "female" if female else "male",
        "birthDay": born.isoformat(),
        "deceasedOn": ended.isoformat() if ended and status == "deceased" else None,
        "maritalStatus": chance.weighted(words.MARITAL),
        "preferredLanguage": chance.weighted(words.LANGUAGES),
        "balance": 0 if chance.often(35) else chance.between(-50_000, 400_000) / 100,
        "activeFrom": active_from.isoformat(),
        "activeThru": ended.isoformat() if ended else None,
        "contacts": [_contact(chance, alone=alone) for _ in range(1 if alone else chance.weighted(CONTACTS))],
        "addresses": [_address(chance) for _ in range(1 if alone or chance.often(70) else 2)],
        "phoneNumbers": [_phone(chance) for _ in range(1 if alone else chance.between(1, 3))],
    }


CONTACTS = ((10, 1), (30, 2), (35, 3), (15, 4), (7, 5), (3, 6))
