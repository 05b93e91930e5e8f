"""Programs to be inverted, from encodings, calendars, ciphers, bit tricks, games, music: as
published, rewritten as people of the field write them.

Each names its source. ``P`` has each one's name, function, types, arguments, and what is known.
"""
import math
import struct
from dataclasses import dataclass
from typing import Annotated, NamedTuple
import numpy as np
from numpy.typing import NDArray
from primitives import Integers, Reals, Shape, array_of
P = []


def prog(*types, args, source, **opts):
    def deco(f):
        P.append(dict(name=f.__name__, f=f, types=types, args=args, source=source, **opts))
        return f
    return deco


Byte = Annotated[int, Integers(0, 255)]
Word16 = Annotated[int, Integers(0, 0xFFFF)]
Word32 = Annotated[int, Integers(0, 0xFFFFFFFF)]

# ---- encodings and protocols ----------------------------------------------------------------


@prog(args=[(0x20AC,), (0x41,), (0x1F600,)], source="RFC 3629, section 3")
def utf8_encode_point(cp: Annotated[int, Integers(0, 0x10FFFF)]):
    if 0xD800 <= cp <= 0xDFFF:
        raise ValueError("surrogate")
    if cp < 0x80:
        return bytes([cp])
    if cp < 0x800:
        return bytes([0xC0 | cp >> 6, 0x80 | cp & 0x3F])
    if cp < 0x10000:
        return bytes([0xE0 | cp >> 12, 0x80 | (cp >> 6) & 0x3F, 0x80 | cp & 0x3F])
    return bytes([0xF0 | cp >> 18, 0x80 | (cp >> 12) & 0x3F,
                  0x80 | (cp >> 6) & 0x3F, 0x80 | cp & 0x3F])


B64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@prog(args=[(b"foobar",), (b"foob",), (b"\x00\xff",)], source="RFC 4648, section 4")
def base64_text(data: bytes):
    out = ""
    for i in range(0, len(data), 3):
        chunk = data[i:i + 3]
        missing = 3 - len(chunk)
        n = int.from_bytes(chunk + b"\0" * missing, "big")
        quad = "".join(B64[(n >> s) & 63] for s in (18, 12, 6, 0))
        out += quad[:4 - missing] + "=" * missing
    return out


B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


@prog(args=[(b"fooba",), (b"fo",)], source="RFC 4648, section 6")
def base32_text(data: bytes):
    bits = "".join(f"{b:08b}" for b in data)
    bits += "0" * (-len(bits) % 5)
    text = "".join(B32[int(bits[i:i + 5], 2)] for i in range(0, len(bits), 5))
    return text + "=" * (-len(text) % 8)


@prog(args=[(-150,), (3,), (70000,)],
      source="Protocol Buffers documentation, Encoding: base 128 varints, ZigZag signed integers")
def sint32_varint(n: Annotated[int, Integers(-2**31, 2**31 - 1)]):
    u = ((n << 1) ^ (n >> 31)) & 0xFFFFFFFF
    out = bytearray()
    while u > 0x7F:
        out.append(u & 0x7F | 0x80)
        u >>= 7
    out.append(u)
    return bytes(out)


@prog(args=[(1337, 5), (10, 5), (42, 8)], known=("return", "prefix"),
      source="RFC 7541 (HPACK), section 5.1")
def hpack_integer(value: Annotated[int, Integers(0, 1 << 20)],
                  prefix: Annotated[int, Integers(1, 8)]):
    limit = 2 ** prefix - 1
    if value < limit:
        return (value,)
    octets = [limit]
    value -= limit
    while value >= 128:
        octets.append(value % 128 + 128)
        value //= 128
    octets.append(value)
    return tuple(octets)


@prog(args=[(b"\x11\x22\x00\x33",), (b"\x00\x00",), (b"abc",)],
      source="Cheshire and Baker, Consistent Overhead Byte Stuffing, IEEE/ACM ToN 7(2), 1999")
def cobs_encode(packet: bytes):
    out = bytearray()
    block = bytearray()
    for b in packet:
        if b == 0:
            out.append(len(block) + 1)
            out += block
            block = bytearray()
            continue
        block.append(b)
        if len(block) == 254:
            out.append(255)
            out += block
            block = bytearray()
    out.append(len(block) + 1)
    out += block
    return bytes(out)


@prog(args=[("WWWWBBBWB",), ("aaaaaaaaaaaab",)],
      source="Rosetta Code, Run-length encoding; Salomon, Data Compression, ch. 1 (RLE)")
def run_length_text(s: str):
    runs = []
    for ch in s:
        if runs and runs[-1][0] == ch:
            runs[-1][1] += 1
        else:
            runs.append([ch, 1])
    return "".join(f"{n}{ch}" for ch, n in runs)


@prog(args=[(b"caf\xc3\xa9 = 3",), (b"tab\tend ",)], source="RFC 2045, section 6.7")
def quoted_printable_line(line: bytes):
    parts = []
    for i, b in enumerate(line):
        last = i == len(line) - 1
        if b in (9, 32):
            parts.append(f"={b:02X}" if last else chr(b))
        elif 33 <= b <= 126 and b != ord("="):
            parts.append(chr(b))
        else:
            parts.append("=%02X" % b)
    return "".join(parts)


@prog(args=[(115, 0, 64, 17)], known=("return", "length", "ident", "protocol"),
      source="RFC 1071, section 1; RFC 791, section 3.1")
def ipv4_checksum(length: Word16, ident: Word16, ttl: Byte, protocol: Byte):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, ident, 0x4000, ttl, protocol, 0,
                         bytes([192, 168, 0, 1]), bytes([192, 168, 0, 199]))
    total = sum(struct.unpack("!10H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass(frozen=True)
class DnsFlags:
    qr: bool
    opcode: Annotated[int, Integers(0, 15)]
    aa: bool
    tc: bool
    rd: bool
    ra: bool
    rcode: Annotated[int, Integers(0, 15)]


@prog(args=[(DnsFlags(True, 0, False, False, True, True, 3),)], source="RFC 1035, section 4.1.1")
def dns_flags_word(f: DnsFlags):
    word = f.qr << 15 | f.opcode << 11
    word |= f.aa << 10 | f.tc << 9 | f.rd << 8
    word |= f.ra << 7
    return word | f.rcode


@prog(args=[("www.example.com",), ("a.b",)], source="RFC 1035, section 3.1")
def dns_qname(name: str):
    wire = b""
    for label in name.rstrip(".").split("."):
        raw = label.encode("ascii")
        if not 0 < len(raw) < 64:
            raise ValueError(f"bad label {label!r}")
        wire += bytes([len(raw)]) + raw
    return wire + b"\0"


@prog(args=[("00:1b:44:11:3a:b7",)], source="RFC 4291, appendix A (modified EUI-64)")
def link_local_from_mac(mac: str):
    octets = [int(part, 16) for part in mac.split(":")]
    if len(octets) != 6:
        raise ValueError(f"not a MAC address: {mac}")
    octets[0] ^= 2
    eui = octets[:3] + [0xFF, 0xFE] + octets[3:]
    groups = [f"{eui[i] << 8 | eui[i + 1]:x}" for i in range(0, 8, 2)]
    return "fe80::" + ":".join(groups)


@prog(args=[(0x1EC9414C232AB00, 0x33C8, 0x9F6BDECED846)],
      source="RFC 9562, section 5.1 (UUID version 1)")
def uuid1_text(ticks: Annotated[int, Integers(0, 2**60 - 1)],
               clock_seq: Annotated[int, Integers(0, 2**14 - 1)],
               node: Annotated[int, Integers(0, 2**48 - 1)]):
    low = ticks & 0xFFFFFFFF
    mid = (ticks >> 32) & 0xFFFF
    high = ticks >> 48 | 1 << 12
    seq = clock_seq | 0x8000
    return f"{low:08x}-{mid:04x}-{high:04x}-{seq:04x}-{node:012x}"


@prog(array_of(int, (4,)), args=[(np.array([1, 0, 1, 1]),), (np.array([0, 1, 1, 0]),)],
      source="MacKay, Information Theory, Inference, and Learning Algorithms, section 1.2")
def hamming_7_4(source_bits):
    generator = np.array([[1, 0, 0, 0, 1, 0, 1],
                          [0, 1, 0, 0, 1, 1, 0],
                          [0, 0, 1, 0, 1, 1, 1],
                          [0, 0, 0, 1, 0, 1, 1]])
    return source_bits @ generator % 2


@prog(args=[(0x31, 0x32), (0xAB, 0)],
      source="ITU-T V.41; Ramabadran and Gaitonde, A tutorial on CRC computations, 1988")
def crc16_ccitt_pair(hi: Byte, lo: Byte):
    crc = 0
    for byte in (hi, lo):
        crc ^= byte << 8
        for _ in range(8):
            if crc & 0x8000:
                crc = (crc << 1) ^ 0x1021
            else:
                crc <<= 1
            crc &= 0xFFFF
    return crc


@prog(args=[(0xA5,), (0x0F,)], source="IEEE 802.3, clause 7 (Manchester encoding), LSB first")
def manchester_levels(octet: Byte):
    levels = []
    for k in range(8):
        levels += [0, 1] if octet >> k & 1 else [1, 0]
    return tuple(levels)

# ---- calendars and clocks -------------------------------------------------------------------


@prog(args=[(2000, 1, 1), (1968, 10, 31)],
      source="Fliegel and Van Flandern, A machine algorithm for processing calendar dates, "
             "CACM 11(10), 1968")
def julian_day_number(year: Annotated[int, Integers(1, 9999)],
                      month: Annotated[int, Integers(1, 12)],
                      day: Annotated[int, Integers(1, 31)]):
    t = int((month - 14) / 12)
    jd = 1461 * (year + 4800 + t) // 4
    jd += 367 * (month - 2 - 12 * t) // 12
    jd -= 3 * ((year + 4900 + t) // 100) // 4
    return jd + day - 32075


class Civil(NamedTuple):
    year: int
    month: int
    day: int


@prog(args=[(0,), (19782,), (-1,)],
      source="H. Hinnant, chrono-Compatible Low-Level Date Algorithms, civil_from_days")
def civil_from_days(z: Annotated[int, Integers(-200000, 200000)]):
    era, doe = divmod(z + 719468, 146097)
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    return Civil(400 * era + yoe + (month <= 2), month, doy - (153 * mp + 2) // 5 + 1)


@prog(args=[(1991,), (2000,), (2038,)], source="Meeus, Astronomical Algorithms, ch. 8")
def easter_sunday(year: Annotated[int, Integers(1583, 2299)]):
    a = year % 19
    b, c = divmod(year, 100)
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    el = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * el) // 451
    month, day = divmod(h + el - 7 * m + 114, 31)
    return month, day + 1


@dataclass(frozen=True)
class DosStamp:
    year: Annotated[int, Integers(1980, 2107)]
    month: Annotated[int, Integers(1, 12)]
    day: Annotated[int, Integers(1, 31)]
    hour: Annotated[int, Integers(0, 23)]
    minute: Annotated[int, Integers(0, 59)]
    second: Annotated[int, Integers(0, 59)]


@prog(args=[(DosStamp(1996, 2, 29, 17, 5, 30),), (DosStamp(2023, 12, 1, 0, 59, 7),)],
      source="Microsoft, FAT File System Specification v1.03, Date and Time Formats")
def fat_date_time(t: DosStamp):
    date = (t.year - 1980) << 9 | t.month << 5 | t.day
    time = t.hour << 11 | t.minute << 5 | t.second // 2
    return struct.pack("<HH", time, date)


@prog(args=[(2008, 366), (2005, 1), (2024, 200)], known=("return", "year"),
      source="ISO 8601, week dates (weekday and week of an ordinal date)")
def iso_week_label(year: Annotated[int, Integers(1900, 2100)],
                   ordinal: Annotated[int, Integers(1, 366)]):
    def dec31(y):
        return (y + y // 4 - y // 100 + y // 400) % 7

    def weeks_in(y):
        return 53 if dec31(y) == 4 or dec31(y - 1) == 3 else 52

    weekday = (dec31(year - 1) + ordinal - 1) % 7 + 1
    week = (ordinal - weekday + 10) // 7
    if week < 1:
        year -= 1
        week = weeks_in(year)
    elif week > weeks_in(year):
        year, week = year + 1, 1
    return f"{year}-W{week:02d}-{weekday}"


@prog(args=[(1500000000.25,), (0.5,)], source="RFC 5905 (NTPv4), section 6")
def ntp_timestamp(unix_time: Annotated[float, Reals(0.0, 2.0e9)]):
    seconds = math.floor(unix_time)
    fraction = int((unix_time - seconds) * 2**32)
    return seconds + 2208988800, fraction


@prog(args=[(2446895.5,), (2446896.30625,)],
      source="Meeus, Astronomical Algorithms, ch. 12 (mean sidereal time at Greenwich)")
def greenwich_sidereal_degrees(jd: Annotated[float, Reals(2446895.5, 2446896.4)]):
    t = (jd - 2451545.0) / 36525
    theta = 280.46061837 + 360.98564736629 * (jd - 2451545.0)
    theta += t * t * (0.000387933 - t / 38710000)
    return theta % 360

# ---- identification numbers -----------------------------------------------------------------


@prog(args=[("0306406152",), ("080442957X",)],
      source="ISO 2108 and ISBN Users' Manual (conversion of ISBN-10 to ISBN-13)")
def isbn13_from_isbn10(isbn10: str):
    if len(isbn10) != 10:
        raise ValueError("ten characters expected")
    core = [int(c) for c in isbn10[:9]]
    check = sum((10 - i) * d for i, d in enumerate(core))
    check += 10 if isbn10[9] == "X" else int(isbn10[9])
    if check % 11:
        raise ValueError("not an ISBN-10")
    digits = [9, 7, 8] + core
    total = sum(d * (3 if i % 2 else 1) for i, d in enumerate(digits))
    digits.append(-total % 10)
    return "".join(map(str, digits))


@prog(args=[(37040044, 532013000)],
      source="ISO 13616-1 (IBAN) with ISO 7064 MOD 97-10; SWIFT IBAN Registry, Germany")
def iban_from_account(bank: Annotated[int, Integers(10000000, 99999999)],
                account: Annotated[int, Integers(0, 9999999999)]):
    bban = f"{bank:08d}{account:010d}"
    rearranged = bban + "".join(str(ord(c) - 55) for c in "DE") + "00"
    check = 98 - int(rearranged) % 97
    iban = f"DE{check:02d}{bban}"
    return " ".join(iban[i:i + 4] for i in range(0, len(iban), 4))


VERHOEFF_P1 = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
VERHOEFF_INV = (0, 4, 3, 2, 1, 5, 6, 7, 8, 9)


@prog(args=[("236",), ("12345",)],
      source="Verhoeff, Error Detecting Decimal Codes, 1969; Gumm, IEEE Trans. IT 31(1), 1985")
def verhoeff_protect(number: str):
    def dihedral(a, b):
        if a < 5:
            return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
        return 5 + (a - b) % 5 if b < 5 else (a - b) % 5

    c = 0
    for i, ch in enumerate(reversed(number), start=1):
        d = int(ch)
        for _ in range(i % 8):
            d = VERHOEFF_P1[d]
        c = dihedral(c, d)
    return number + str(VERHOEFF_INV[c])

# ---- ciphers and generators -----------------------------------------------------------------


@prog(args=[("hot", 7, 3), ("attackatdawn", 5, 8)], known=("return", "a", "b"),
      source="Stinson, Cryptography: Theory and Practice, section 1.1 (Affine Cipher)")
def affine_cipher(plaintext: str, a: int, b: int):
    if math.gcd(a, 26) != 1:
        raise ValueError("a has no inverse modulo 26")
    return "".join(chr((a * (ord(p) - 97) + b) % 26 + 65) for p in plaintext)


@prog(args=[("thiscryptosystemisnotsecure", "cipher")], known=("return", "keyword"),
      source="Stinson, Cryptography: Theory and Practice, section 1.1 (Vigenere Cipher)")
def vigenere_encrypt(plaintext: str, keyword: str):
    out = []
    for i, ch in enumerate(plaintext):
        shift = ord(keyword[i % len(keyword)]) - ord("a")
        out.append(chr((ord(ch) - ord("a") + shift) % 26 + ord("A")))
    return "".join(out)


@prog(array_of(int, (2, 2)), array_of(int, (2, 2)),
      args=[(np.array([[5, 17], [8, 3]]), np.array([[7, 19], [8, 3]]))], known=("return", "blocks"),
      source="Stinson, Cryptography: Theory and Practice, section 1.2 (Hill, known plaintext)")
def hill_encrypt(blocks, key):
    return np.mod(blocks @ key, 26)


@prog(args=[("attackpostponeduntiltwoamxyz", "4312567")], known=("return", "key"),
      source="Stallings, Cryptography and Network Security, ch. 3 (Transposition Techniques)")
def columnar_transposition(plaintext: str, key: str):
    columns = {k: plaintext[i::len(key)] for i, k in enumerate(key)}
    return "".join(columns[k] for k in sorted(columns)).upper()


@prog(args=[(65,), (1234,)], source="Rivest, Shamir, Adleman, CACM 21(2), 1978 (small primes)")
def rsa_encrypt(m: Annotated[int, Integers(0, 3232)]):
    p, q, e = 61, 53, 17
    n = p * q
    c = 1
    while e:
        if e & 1:
            c = c * m % n
        m = m * m % n
        e >>= 1
    return c


class ElGamalPair(NamedTuple):
    y1: int
    y2: int


@prog(args=[(1299, 853)], source="Stinson, Cryptography: Theory and Practice, 3rd ed., section 6.1")
def elgamal_encrypt(x: Annotated[int, Integers(1, 2578)], k: Annotated[int, Integers(0, 2577)]):
    p, alpha, a = 2579, 2, 765
    beta = pow(alpha, a, p)
    return ElGamalPair(pow(alpha, k, p), x * pow(beta, k, p) % p)


@prog(args=[(0x01234567, 0x89ABCDEF, (0x00112233, 0x44556677, 0x8899AABB, 0xCCDDEEFF))],
      known=("return", "key"),
      source="Wheeler and Needham, TEA, a Tiny Encryption Algorithm, FSE 1994")
def tea_encipher(v0: Word32, v1: Word32, key: tuple[Word32, Word32, Word32, Word32]):
    mask = 0xFFFFFFFF
    k0, k1, k2, k3 = key
    total = 0
    for _ in range(32):
        total = (total + 0x9E3779B9) & mask
        v0 = (v0 + (((v1 << 4) + k0) ^ (v1 + total) ^ ((v1 >> 5) + k1))) & mask
        v1 = (v1 + (((v0 << 4) + k2) ^ (v0 + total) ^ ((v0 >> 5) + k3))) & mask
    return v0, v1


@prog(args=[(0xD4, 0xBF, 0x5D, 0x30), (0xDB, 0x13, 0x53, 0x45)],
      source="FIPS 197, section 5.1.3 (MixColumns)")
def aes_mix_column(s0: Byte, s1: Byte, s2: Byte, s3: Byte):
    def xtime(b):
        b <<= 1
        return b ^ 0x11B if b & 0x100 else b

    col = (s0, s1, s2, s3)
    every = s0 ^ s1 ^ s2 ^ s3
    return tuple(col[i] ^ every ^ xtime(col[i] ^ col[(i + 1) % 4]) for i in range(4))


@prog(args=[(b"Plaintext", b"Key"), (b"pedia", b"Wiki")], known=("return", "key"),
      source="Schneier, Applied Cryptography, section 17.1 (RC4)")
def rc4_crypt(data: bytes, key: bytes):
    s = list(range(256))
    j = 0
    for i in range(256):
        j = (j + s[i] + key[i % len(key)]) % 256
        s[i], s[j] = s[j], s[i]
    i = j = 0
    out = []
    for byte in data:
        i = (i + 1) % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
        out.append(byte ^ s[(s[i] + s[j]) % 256])
    return bytes(out)


@prog(args=[(0xACE1, 10), (0x0001, 40)], known=("return", "clocks"),
      source="Golomb, Shift Register Sequences; Xilinx XAPP052, table of taps (16, 15, 13, 4)")
def lfsr16_state(seed: Word16, clocks: int):
    state = seed
    for _ in range(clocks):
        fed = (state >> 15 ^ state >> 14 ^ state >> 12 ^ state >> 3) & 1
        state = (state << 1 | fed) & 0xFFFF
    return state


@prog(args=[(2463534242,), (1,)],
      source="Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003")
def xorshift32(y: Word32):
    y ^= (y << 13) & 0xFFFFFFFF
    y ^= y >> 17
    y ^= (y << 5) & 0xFFFFFFFF
    return y


@prog(args=[(1,), (2147483646,), (123456789,)],
      source="Park and Miller, Random number generators: good ones are hard to find, CACM 1988")
def minimal_standard_uniform(seed: Annotated[int, Integers(1, 2147483646)]):
    a, m = 16807, 2147483647
    q, r = m // a, m % a
    hi, lo = divmod(seed, q)
    test = a * lo - r * hi
    seed = test if test > 0 else test + m
    return seed / m


@prog(args=[(0x12345678,), (0xDEADBEEF,)],
      source="Matsumoto and Nishimura, Mersenne Twister, ACM TOMACS 8(1), 1998, section 2.1")
def mt_temper(x: Word32):
    y = x ^ (x >> 11)
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)

# ---- bits, numbers, packing, text -----------------------------------------------------------


@prog(args=[(178,), (5,)], source="Warren, Hacker's Delight, 2nd ed., section 13-1 (Gray Code)")
def gray_word(n: Byte):
    g = n ^ n >> 1
    return format(g, "08b")


@prog(args=[(5, 9), (0xFFFF, 1)],
      source="Anderson, Bit Twiddling Hacks, Interleave bits by Binary Magic Numbers; "
             "Morton, IBM Ltd. technical report, 1966")
def morton_key(x: Word16, y: Word16):
    def spread(v):
        for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
            v = (v | v << shift) & mask
        return v

    return spread(x) | spread(y) << 1


@prog(args=[(23,), (1000,)],
      source="Sunzi Suanjing, problem 26 of ch. 3; Knuth, TAOCP vol. 2, section 4.3.2")
def modular_digits(u: Annotated[int, Integers(0, 3 * 5 * 7 * 11 - 1)]):
    return tuple(u % m for m in (3, 5, 7, 11))


@prog(args=[(415, 93), (649, 200)],
      source="Hardy and Wright, An Introduction to the Theory of Numbers, section 10.6")
def continued_fraction(p: Annotated[int, Integers(1, 100000)],
                       q: Annotated[int, Integers(1, 100000)]):
    quotients = []
    while q:
        a, rest = divmod(p, q)
        quotients.append(a)
        p, q = q, rest
    return tuple(quotients)


@prog(args=[(0x3C00,), (0xC123,), (0x0001,)],
      source="IEEE 754-2008, section 3.4 (binary16)")
def half_value(bits: Word16):
    sign = -1.0 if bits >> 15 else 1.0
    exponent = bits >> 10 & 31
    fraction = bits & 1023
    if exponent == 31:
        if fraction:
            raise ValueError("NaN")
        return sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(fraction, -24)
    return sign * math.ldexp(1024 + fraction, exponent - 25)


@prog(args=[(57.64911, 10.40744)],
      source="Niemeyer, geohash.org (Geohash); Wikipedia, Geohash, algorithm and example")
def geohash(lat: Annotated[float, Reals(-90.0, 90.0)],
            lon: Annotated[float, Reals(-180.0, 180.0)]):
    alphabet = "0123456789bcdefghjkmnpqrstuvwxyz"
    ranges = [[-180.0, 180.0], [-90.0, 90.0]]
    code = ""
    turn = 0
    while len(code) < 8:
        index = 0
        for _ in range(5):
            box, value = ranges[turn], (lon, lat)[turn]
            mid = (box[0] + box[1]) / 2
            bit = value >= mid
            box[1 - bit] = mid
            index = 2 * index + bit
            turn ^= 1
        code += alphabet[index]
    return code


ROMAN = {"M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40,
         "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1}


@prog(args=[(1994,), (3999,), (48,)],
      source="Pilgrim, Dive Into Python, ch. on unit testing (roman.py)")
def to_roman_numeral(n: Annotated[int, Integers(1, 3999)]):
    text = ""
    for numeral, value in ROMAN.items():
        count, n = divmod(n, value)
        text += numeral * count
    return text


@prog(args=[(48.1173,), (-33.8568,)],
      source="NMEA 0183, GGA sentence (latitude field and hemisphere)")
def nmea_latitude(lat: Annotated[float, Reals(-90.0, 90.0)]):
    hemisphere = "S" if lat < 0 else "N"
    total = round(abs(lat) * 60 * 1000)
    degrees, thousandths = divmod(total, 60000)
    return f"{degrees:02d}{thousandths / 1000:06.3f},{hemisphere}"

# ---- games and music ------------------------------------------------------------------------


@prog(args=[(24, 78, 74, 108), (31, 100, 0, 50)], known=("return", "base", "effort", "level"),
      source="Bulbapedia, Stat (determination of the HP stat, Generation III onward)")
def pokemon_hp(iv: Annotated[int, Integers(0, 31)], level: int, effort: int, base: int):
    if base == 1:
        return 1
    return (2 * base + iv + effort // 4) * level // 100 + level + 10


@prog(array_of(int, (3, 3)), args=[(np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0]]),)],
      source="Anderson and Feil, Turning Lights Out with Linear Algebra, Mathematics Magazine "
             "71(4), 1998 (3 by 3 board)")
def lights_after(presses):
    board = np.zeros((3, 3), dtype=int)
    for r in range(3):
        for c in range(3):
            if not presses[r, c] % 2:
                continue
            for dr, dc in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= r + dr < 3 and 0 <= c + dc < 3:
                    board[r + dr, c + dc] ^= 1
    return board


Twist = Annotated[int, Integers(0, 2)]


@prog(args=[((2, 0, 0, 1, 1, 0, 0, 2),), ((0, 1, 2, 0, 1, 2, 2, 1),)],
      source="Kociemba, The Two-Phase Algorithm, kociemba.org (corner orientation coordinate)")
def twist_coordinate(corners: tuple[Twist, Twist, Twist, Twist, Twist, Twist, Twist, Twist]):
    if sum(corners) % 3:
        raise ValueError("impossible corner twist")
    coordinate = 0
    for o in corners[:-1]:
        coordinate = 3 * coordinate + o
    return coordinate


@prog(args=[(69, 0, 64), (60, 17, 100)], known=("return", "lsb"),
      source="MIDI 1.0 Detailed Specification, Pitch Bend Change; MIDI Tuning Standard (A = 440)")
def bent_note_frequency(note: Annotated[int, Integers(0, 127)],
                        lsb: Annotated[int, Integers(0, 127)],
                        msb: Annotated[int, Integers(0, 127)]):
    bend = (msb << 7 | lsb) - 8192
    semitones = note - 69 + 2 * bend / 8192
    return 440.0 * 2 ** (semitones / 12)


@prog(args=[("RI", 5), ("P", 4), ("I", 10)],
      source="Perle, Serial Composition and Atonality; row of Schoenberg, Suite op. 25")
def row_form(form: str, level: Annotated[int, Integers(0, 11)]):
    if form not in ("P", "I", "R", "RI"):
        raise ValueError(f"unknown row form {form}")
    names = "C C# D Eb E F F# G Ab A Bb B".split()
    prime = [4, 5, 7, 1, 6, 3, 8, 2, 11, 0, 9, 10]
    intervals = [p - prime[0] for p in prime]
    if "I" in form:
        intervals = [-i for i in intervals]
    row = [names[(level + i) % 12] for i in intervals]
    if form.startswith("R"):
        row.reverse()
    return " ".join(row)
