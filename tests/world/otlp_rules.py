"""Reads a request as a collector of OpenTelemetry must: with the messages of the protocol, and its rules."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

_IDS = {
    "traceId": 16,
    "spanId": 8,
    "parentSpanId": 8,
}  # bytes; in OTLP's JSON each has two hexadecimal digits

ERROR = trace_pb2.Status.StatusCode.STATUS_CODE_ERROR


class NotOtlp(ValueError):
    """A request that a collector must refuse."""


def read(body: bytes) -> list[trace_pb2.Span]:
    """Return the spans of a request.

    Raises:
        NotOtlp: The request is not one of the protocol.
    """
    try:
        found = json_format.ParseDict(
            _in_base64(json.loads(body)), trace_service_pb2.ExportTraceServiceRequest()
        )
    except (ValueError, json_format.ParseError) as error:
        raise NotOtlp(str(error)) from error
    spans = []
    for group in found.resource_spans:
        _check_attributes(group.resource.attributes)
        if "service.name" not in {item.key for item in group.resource.attributes}:
            raise NotOtlp("the resource has no service.name")
        spans += [span for scope in group.scope_spans for span in scope.spans]
    for span in spans:
        _check(span)
    return spans


def _in_base64(found: Any) -> Any:
    """Return a request with its ids as protobuf's JSON has them; OTLP's JSON has them in hexadecimal."""
    if isinstance(found, list):
        return [_in_base64(item) for item in found]
    if not isinstance(found, dict):
        return found
    return {key: _id(key, value) if key in _IDS else _in_base64(value) for key, value in found.items()}


def _id(key: str, text: str) -> str:
    number = bytes.fromhex(text)
    if text and (len(number) != _IDS[key] or not any(number)):
        raise NotOtlp(f"{key} is {text}")
    return base64.b64encode(number).decode()


def _check(span: trace_pb2.Span) -> None:
    moments = [event.time_unix_nano for event in span.events]
    places = [(span.trace_id, span.span_id), *((link.trace_id, link.span_id) for link in span.links)]
    kept = (
        span.name
        and all(trace and own for trace, own in places)
        and 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        and all(moment <= span.end_time_unix_nano for moment in moments)
        and span.kind in trace_pb2.Span.SpanKind.values()
        and span.status.code in trace_pb2.Status.StatusCode.values()
        and span.span_id != span.parent_span_id
    )
    if not kept:
        raise NotOtlp(f"a rule of spans is broken: {span}")
    for attributes in (span.attributes, *(one.attributes for one in (*span.events, *span.links))):
        _check_attributes(attributes)


def _check_attributes(found: Iterable[common_pb2.KeyValue]) -> None:
    keys = []
    for item in found:
        keys.append(item.key)
        if not item.key or item.value.WhichOneof("value") is None:
            raise NotOtlp(f"an attribute has no key or no value: {item}")
    if len(set(keys)) < len(keys):
        raise NotOtlp(f"an attribute is there twice: {keys}")
