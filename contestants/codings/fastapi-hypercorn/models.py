"""The published record as Pydantic models, which write it back byte for byte."""

from datetime import date
from uuid import UUID

from pydantic import BaseModel


class Address(BaseModel):
    """A postal address."""

    id: UUID
    zip: str
    number: str
    street: str
    city: str
    state: str
    country: str
    type: str


class PhoneNumber(BaseModel):
    """A telephone number."""

    id: UUID
    number: str
    type: str


class Contact(BaseModel):
    """Somebody to call."""

    id: UUID
    relationship: str
    name: str
    addresses: list[Address]
    phoneNumbers: list[PhoneNumber]


class Patient(BaseModel):
    """One record; its members are named and ordered as on the wire."""

    id: UUID
    status: str
    name: str
    gender: str
    birthDay: date
    deceasedOn: date | None
    maritalStatus: str
    preferredLanguage: str
    balance: int | float
    activeFrom: date
    activeThru: date | None
    contacts: list[Contact]
    addresses: list[Address]
    phoneNumbers: list[PhoneNumber]
