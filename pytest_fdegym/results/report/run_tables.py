"""The runs of a report as a table for spreadsheets and data frames: CSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

import csv
import io
import math
from typing import Any, get_args

from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.report.model import Report, RunRow

COLUMNS = tuple(RunRow.model_fields)
"""Numbers, ids and names; no text that an agent or a customer wrote."""


def runs_csv(report: Report) -> str:
    """A row for each run, after one with the names of the columns; unknown is empty, numbers are unrounded. RFC 4180."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    writer.writerows([_known(getattr(run, column)) for column in COLUMNS] for run in report.runs)
    return out.getvalue()


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def needs_pyarrow() -> None:
    """Raises UsageError where Parquet cannot be written."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]  # noqa: F401, PLC0415  (an extra; it has no types)
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'pytest-fdegym[report]'.") from None


def runs_parquet(report: Report) -> bytes:
    """The same table with typed columns; unknown is null. Raises UsageError without pyarrow."""
    needs_pyarrow()
    import pyarrow as pa  # noqa: PLC0415  (an extra)
    import pyarrow.parquet as pq  # noqa: PLC0415  (the same)

    kinds = {float: pa.float64(), int: pa.int64()}
    schema = pa.schema([(name, next((kinds[kind] for kind in _kinds(name) if kind in kinds), pa.string())) for name in COLUMNS])
    rows = [{name: _known(getattr(run, name)) for name in COLUMNS} for run in report.runs]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), out)
    return out.getvalue()


def _kinds(name: str) -> tuple[Any, ...]:
    annotation = RunRow.model_fields[name].annotation
    return get_args(annotation) or (annotation,)
