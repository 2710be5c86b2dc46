"""Values to payloads and back, errors to failures and back."""

from towline.convert.codec import PayloadCodec
from towline.convert.converter import DataConverter
from towline.convert.encoding import BytesEncoding, Encoding, NullEncoding
from towline.convert.errors import ConversionError, DecodeError, EncodeError
from towline.convert.failure import FailureConverter
from towline.convert.json_plain import JsonEncoding

__all__ = [
    "BytesEncoding",
    "ConversionError",
    "DataConverter",
    "DecodeError",
    "EncodeError",
    "Encoding",
    "FailureConverter",
    "JsonEncoding",
    "NullEncoding",
    "PayloadCodec",
]
