"""Python definitions, for lifting, of functions of bytes that are written in C."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["base16_of", "base32_of", "base64_of", "bytes_of", "hex_of", "hexlified"]

DIGITS_64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
DIGITS_32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def bytes_of(number: int, length: int, byteorder: Literal["big", "little"], signed: bool) -> bytes:
    """The bytes of an integer."""
    low = -(2 ** (8 * length - 1)) if signed else 0
    if number < low or number >= low + 2 ** (8 * length):
        raise OverflowError("the integer does not fit")
    if signed and number < 0:
        number += 2 ** (8 * length)
    found: list[int] = []
    for _ in range(length - 1):
        number, digit = divmod(number, 256)
        found.append(digit)
    found.append(number)
    if byteorder == "big":
        found.reverse()
    return bytes(found)


def hex_of(data: bytes, sep: str = "") -> str:
    """The hexadecimal digits of bytes."""
    return sep.join(f"{octet:02x}" for octet in data)


def hexlified(data: bytes) -> bytes:
    """The hexadecimal digits of bytes, as bytes."""
    return _in_sixteens(data, b"0123456789abcdef")


def _in_sixteens(data: bytes, digits: bytes) -> bytes:
    found: list[int] = []
    for octet in data:
        high, low = divmod(octet, 16)
        found += [digits[high], digits[low]]
    return bytes(found)


def base16_of(data: bytes) -> bytes:
    """``base64.b16encode``."""
    return _in_sixteens(data, b"0123456789ABCDEF")


def _in_groups(data: bytes, size: int, count: int, bits: int, digits: bytes) -> bytes:
    """Groups of bytes as digits of a number of bits, with padding."""
    found: list[int] = []
    base = 2**bits
    for start in range(0, len(data), size):
        chunk = data[start : start + size]
        missing = size - len(chunk)
        number = int.from_bytes(chunk + b"\0" * missing, "big")
        group: list[int] = []
        for _ in range(count - 1):
            number, digit = divmod(number, base)
            group.append(digits[digit])
        group.append(digits[number])
        group.reverse()
        kept = (8 * len(chunk) + bits - 1) // bits
        found += group[:kept]
        found += [ord("=")] * (count - kept)
    return bytes(found)


def base64_of(data: bytes, altchars: Any = None) -> bytes:
    """``base64.b64encode``."""
    digits = DIGITS_64 if altchars is None else DIGITS_64[:62] + altchars
    return _in_groups(data, 3, 4, 6, digits)


def base32_of(data: bytes) -> bytes:
    """``base64.b32encode``."""
    return _in_groups(data, 5, 8, 5, DIGITS_32)
