"""The servers of these benches, each pinned to one CPU: origin, nghttpd, nginx and the plain one on quic-go."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benches.peers.install import installed

from photofinish.testbed.certificates import Certificates
from photofinish.testbed.ports import Ports
from photofinish.testbed.processes import answers_http

SERVER_CPU, CLIENT_CPU = 1, 0
ADDRESS = "127.0.0.1"
SMALL, MEDIUM, LARGE = "/test/100", "/test/10k", "/test/10m"
BYTES = {SMALL: 100, MEDIUM: 10 << 10, LARGE: 10 << 20}
READY_S = 10.0
LISTENING = ('"event":"listening"', " listens on ")
"""What origin and the server on quic-go say when they are ready, to programs or to people."""

NGINX = """daemon off;
user root;
worker_processes 1;
pid {run}/nginx.pid;
error_log stderr;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {run}/body;
    proxy_temp_path {run}/proxy;
    fastcgi_temp_path {run}/fastcgi;
    scgi_temp_path {run}/scgi;
    uwsgi_temp_path {run}/uwsgi;
    keepalive_requests 1000000000;
    open_file_cache max=16 inactive=1h;
    open_file_cache_valid 1h;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.3;
    server {{
        listen {address}:{port} {listen};
        root {root};
        location = {small} {{ return 200 "{body}"; }}
    }}
}}
"""


@dataclass(frozen=True, slots=True)
class Server:
    """One process (with its children) that serves one protocol, on one port."""

    name: str
    protocol: str
    """``http/1.1``, ``h2``, ``h2+tls`` or ``h3``."""
    port: int
    pid: int

    def url(self, path: str) -> str:
        """Of one of its bodies."""
        return f"{'http' if self.protocol in ('http/1.1', 'h2') else 'https'}://{ADDRESS}:{self.port}{path}"


@dataclass(frozen=True, slots=True)
class Place:
    """What servers need."""

    engine: Path
    secured: Certificates
    folder: Path
    """For files of theirs; theirs alone."""
    origin_flags: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    """Words before the command of a server: what runs it."""


Start = Callable[[str, Place, int, str], list[str]]


def _origin(protocol: str, place: Place, port: int, engine: str) -> list[str]:
    if protocol in ("http/1.1", "h2"):
        return [engine, "origin", "--port", str(port), *place.origin_flags]
    keys = ["--certificate", str(place.secured.certificate), "--key", str(place.secured.key)]
    return [engine, "origin", "--port", "0", "--tls-port", str(port), *keys, *place.origin_flags]


def _nghttpd(protocol: str, place: Place, port: int, program: str) -> list[str]:
    flags = ["--address", ADDRESS, "--htdocs", str(_documents(place)), "--max-concurrent-streams", "128"]
    if protocol == "h2":
        return [program, "--no-tls", *flags, str(port)]
    return [program, *flags, str(port), str(place.secured.key), str(place.secured.certificate)]


def _nginx(protocol: str, place: Place, port: int, program: str) -> list[str]:
    run = place.folder / f"nginx-{port}"
    run.mkdir()
    listen = {"http/1.1": "", "h2": "http2", "h2+tls": "ssl http2"}[protocol]
    text = NGINX.format(
        run=run,
        root=_documents(place),
        certificate=place.secured.certificate,
        key=place.secured.key,
        address=ADDRESS,
        port=port,
        listen=listen,
        small=SMALL,
        body="0" * BYTES[SMALL],
    )
    (run / "nginx.conf").write_text(text, encoding="utf-8")
    return [program, "-p", str(run), "-c", str(run / "nginx.conf")]


def _quic_go(_protocol: str, place: Place, port: int, program: str) -> list[str]:
    return [program, f"{ADDRESS}:{port}", str(place.secured.certificate), str(place.secured.key)]


def _documents(place: Place) -> Path:
    """The bodies as files."""
    root = place.folder / "documents"
    for path in (SMALL, MEDIUM):
        file = root / path.removeprefix("/")
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"0" * BYTES[path])
    return root


ORIGIN, NGHTTPD, NGINX_NAME, QUIC_GO = "origin", "nghttpd", "nginx", "quic-go-server"
STARTS: dict[str, Start] = {ORIGIN: _origin, NGHTTPD: _nghttpd, NGINX_NAME: _nginx, QUIC_GO: _quic_go}


def program_of(name: str, engine: Path) -> Path | None:
    """The program of a server; None where it isn't here."""
    return engine if name == ORIGIN else installed((name,)).get(name)


@contextmanager
def running(wanted: Sequence[tuple[str, str]], place: Place, ports: Ports) -> Iterator[list[Server]]:
    """Starts servers by name and protocol; those whose program isn't here are left out. They are ended and waited for.

    Raises:
        SystemExit: one doesn't come up.
    """
    with ExitStack() as ending:
        servers = []
        for name, protocol in wanted:
            program = program_of(name, place.engine)
            if program is None:
                continue
            port = ports.take()
            argv = STARTS[name](protocol, place, port, str(program))
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "GOMAXPROCS": "1"}
            log = ending.enter_context((place.folder / f"{name}-{port}.log").open("w+", encoding="utf-8"))
            process = subprocess.Popen(
                ["taskset", "-c", str(SERVER_CPU), *place.wrapper, *argv],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            ending.callback(_end, process)
            servers.append(Server(name, protocol, port, process.pid))
            if not _ready(servers[-1], process, Path(log.name)):
                log.seek(0)
                raise SystemExit(f"{name} doesn't answer: `{' '.join(argv)}` said {log.read()[-500:]!r}")
        yield servers


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks it to end, and makes it."""
    process.terminate()
    try:
        process.wait(READY_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ready(server: Server, process: subprocess.Popen[bytes], log: Path) -> bool:
    """Waits until it listens: by its own line, by an answer, or by an open port."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline and process.poll() is None:
        if server.name in (ORIGIN, QUIC_GO):
            said = log.read_text(encoding="utf-8")
            if any(words in said for words in LISTENING):
                return True
        elif _connects(server.port) and (
            server.protocol != "http/1.1" or answers_http((ADDRESS, server.port), SMALL, 0.5)
        ):
            return True
        time.sleep(0.02)
    return False


def _connects(port: int) -> bool:
    try:
        with socket.create_connection((ADDRESS, port), 0.5):
            return True
    except OSError:
        return False
