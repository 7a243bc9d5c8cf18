"""Inputs that nobody knows beforehand and a regrade gets again."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets

from wia_lab.errors import CannotRun

LEAST, MOST = 1, 200


def draw() -> str:
    """Return a seed from the system's generator: 128 bits in hexadecimal."""
    return secrets.token_hex(16)


def checked(seed: str) -> str:
    """Return a seed given by hand if it is one."""
    if not LEAST <= len(seed) <= MOST or not seed.isprintable():
        raise CannotRun(f"--seed {seed[:40]!r} is no seed: give 1 to {MOST} printable characters")
    return seed


def seed_of(seed: str, student: str, puzzle: str, attempt: int) -> int:
    """Return the seed of one answer's inputs: HMAC-SHA256 of who, what and which attempt."""
    message = json.dumps([student, puzzle, attempt]).encode()
    return int.from_bytes(hmac.digest(seed.encode(), message, hashlib.sha256)[:16], "big")
