"""The draw as SQL, in the words of each engine.

All of them say the same: the first 53 bits of SHA-256(outer, SHA-256(inner, message)), divided by 2^53. The pads are
bytes and the message is text; where one of them is missing, so is the draw.
"""

from __future__ import annotations

__all__ = ["DRAWS"]

DRAWS = {
    "duckdb": (
        "((('0x' || substr(sha256({outer} || unhex(sha256({inner} || encode({message})))), 1, 14))::UBIGINT >> 3)"
        "::DOUBLE / 9007199254740992::DOUBLE)"
    ),
    "postgres": (
        "(('x' || encode(substr(sha256({outer} || sha256({inner} || convert_to({message}, 'UTF8'))), 1, 7), 'hex'))"
        "::bit(56)::bigint >> 3)::double precision / 9007199254740992::double precision"
    ),
    "spark": (
        "CAST(shiftright(CAST(conv(substring(sha2(concat({outer}, unhex(sha2(concat({inner}, "
        "encode({message}, 'UTF-8')), 256))), 256), 1, 14), 16, 10) AS BIGINT), 3) AS DOUBLE) "
        "/ CAST(9007199254740992 AS DOUBLE)"
    ),
    "snowflake": (
        "CAST(BITSHIFTRIGHT(TO_NUMBER(SUBSTR(SHA2({outer} || SHA2_BINARY({inner} || TO_BINARY({message}, 'UTF-8'), "
        "256), 256), 1, 14), 'XXXXXXXXXXXXXX'), 3) AS DOUBLE) / CAST(9007199254740992 AS DOUBLE)"
    ),
    "bigquery": (
        "CAST(CAST(CONCAT('0x', SUBSTR(TO_HEX(SHA256(CONCAT({outer}, SHA256(CONCAT({inner}, "
        "CAST({message} AS BYTES)))))), 1, 14)) AS INT64) >> 3 AS FLOAT64) / CAST(9007199254740992 AS FLOAT64)"
    ),
}
"""By dialect; to be formatted with `inner`, `outer` and `message`."""
