//! A plain HTTP/3 client on quiche, after quiche's own example: one connection, one socket, one datagram a system call.
//!
//!     quiche-client HOST:PORT/PATH --ca FILE [--streams 1] [--seconds 1 | --requests N] [--connections 1]
//!
//! A request is begun whenever fewer than so many streams are open. When the time is over (or the number of requests is
//! reached), what is under way is finished. The last line says what was done: `{"requests":…,"body_bytes":…}`.

use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use quiche::h3::{Event, Header, NameValue};
use quiche::{Connection, ConnectionId, RecvInfo};

type Failure = Box<dyn Error>;

/// quiche's example sends and takes datagrams of this size at most.
const DATAGRAM_BYTES: usize = 1350;
const IDLE_MS: u64 = 5000;
/// As large as quinn's defaults or larger, so that the windows are not what is compared.
const STREAM_WINDOW: u64 = 16 << 20;
const CONNECTION_WINDOW: u64 = 64 << 20;

/// The command line.
struct Asked {
    address: SocketAddr,
    host: String,
    path: String,
    authority: String,
    ca: String,
    streams: u64,
    seconds: f64,
    requests: Option<u64>,
}

/// What was begun and done.
#[derive(Default)]
struct Tally {
    begun: u64,
    done: u64,
    body_bytes: u64,
}

fn main() -> Result<(), Failure> {
    let tally = load(&asked()?)?;
    println!("{{\"requests\":{},\"body_bytes\":{}}}", tally.done, tally.body_bytes);
    Ok(())
}

fn asked() -> Result<Asked, Failure> {
    let mut words = std::env::args().skip(1);
    let target = words.next().ok_or("say HOST:PORT/PATH first")?;
    let (authority, path) = target.split_once('/').ok_or("the target needs a path: HOST:PORT/PATH")?;
    let mut asked = Asked {
        address: authority.to_socket_addrs()?.next().ok_or("the host has no address")?,
        host: authority.split(':').next().unwrap_or_default().to_owned(),
        path: format!("/{path}"),
        authority: authority.to_owned(),
        ca: String::new(),
        streams: 1,
        seconds: 1.0,
        requests: None,
    };
    while let Some(flag) = words.next() {
        let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--ca" => asked.ca = value,
            "--streams" => asked.streams = value.parse()?,
            "--seconds" => asked.seconds = value.parse()?,
            "--requests" => asked.requests = Some(value.parse()?),
            "--connections" if value == "1" => {}
            "--connections" => return Err("this client has one connection".into()),
            _ => return Err(format!("there is no {flag}: see the beginning of main.rs").into()),
        }
    }
    Ok(asked)
}

fn config(ca: &str) -> Result<quiche::Config, Failure> {
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
    config.load_verify_locations_from_file(ca)?;
    config.verify_peer(true);
    config.set_application_protos(quiche::h3::APPLICATION_PROTOCOL)?;
    config.set_max_idle_timeout(IDLE_MS);
    config.set_max_recv_udp_payload_size(DATAGRAM_BYTES);
    config.set_max_send_udp_payload_size(DATAGRAM_BYTES);
    config.set_initial_max_data(CONNECTION_WINDOW);
    config.set_initial_max_stream_data_bidi_local(STREAM_WINDOW);
    config.set_initial_max_stream_data_bidi_remote(STREAM_WINDOW);
    config.set_initial_max_stream_data_uni(STREAM_WINDOW);
    config.set_max_connection_window(CONNECTION_WINDOW);
    config.set_max_stream_window(STREAM_WINDOW);
    config.set_initial_max_streams_uni(100);
    config.set_disable_active_migration(true);
    Ok(config)
}

/// Everything from the connection to the last response.
fn load(asked: &Asked) -> Result<Tally, Failure> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(16);
    let mut socket = UdpSocket::bind(SocketAddr::from(([0, 0, 0, 0], 0)))?;
    poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
    let local = socket.local_addr()?;
    let (low, high) = (RandomState::new().build_hasher().finish(), RandomState::new().build_hasher().finish());
    let id = [low.to_be_bytes(), high.to_be_bytes()].concat();
    let mut config = config(&asked.ca)?;
    let id = ConnectionId::from_ref(&id);
    let mut connection = quiche::connect(Some(&asked.host), &id, local, asked.address, &mut config)?;
    let mut http = None;
    let mut buffer = vec![0; 65_536];
    let mut tally = Tally::default();
    let ends = Instant::now() + Duration::from_secs_f64(asked.seconds);
    send(&mut connection, &socket, &mut buffer)?;
    loop {
        poll.poll(&mut events, connection.timeout())?;
        if events.is_empty() {
            connection.on_timeout();
        }
        receive(&mut connection, &socket, local, &mut buffer)?;
        if connection.is_closed() {
            return Err(format!("the connection ended early: {:?}", connection.peer_error()).into());
        }
        if connection.is_established() {
            if http.is_none() {
                let settings = quiche::h3::Config::new()?;
                http = Some(quiche::h3::Connection::with_transport(&mut connection, &settings)?);
            }
            let Some(http) = &mut http else { continue };
            take(http, &mut connection, &mut buffer, &mut tally)?;
            let more = || asked.requests.map_or_else(|| Instant::now() < ends, |most| tally.begun < most);
            if more() {
                begin(http, &mut connection, asked, &mut tally)?;
            } else if tally.done == tally.begun {
                connection.close(true, 0x100, b"")?;
                send(&mut connection, &socket, &mut buffer)?;
                return Ok(tally);
            }
        }
        send(&mut connection, &socket, &mut buffer)?;
    }
}

/// Begins requests until as many are under way as may be.
fn begin(
    http: &mut quiche::h3::Connection,
    connection: &mut Connection,
    asked: &Asked,
    tally: &mut Tally,
) -> Result<(), Failure> {
    while tally.begun - tally.done < asked.streams && asked.requests.is_none_or(|most| tally.begun < most) {
        let fields = [
            Header::new(b":method", b"GET"),
            Header::new(b":scheme", b"https"),
            Header::new(b":authority", asked.authority.as_bytes()),
            Header::new(b":path", asked.path.as_bytes()),
        ];
        match http.send_request(connection, &fields, true) {
            Ok(_) => tally.begun += 1,
            Err(quiche::h3::Error::StreamBlocked | quiche::h3::Error::TransportError(quiche::Error::StreamLimit)) => {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// All that HTTP/3 has to tell.
fn take(
    http: &mut quiche::h3::Connection,
    connection: &mut Connection,
    buffer: &mut [u8],
    tally: &mut Tally,
) -> Result<(), Failure> {
    loop {
        match http.poll(connection) {
            Ok((_, Event::Headers { list, .. })) => {
                let status = list.iter().find(|field| field.name() == b":status");
                if status.is_none_or(|field| field.value() != b"200") {
                    return Err(format!("the server answered {status:?}").into());
                }
            }
            Ok((stream, Event::Data)) => {
                while let Ok(count) = http.recv_body(connection, stream, buffer) {
                    tally.body_bytes += count as u64;
                }
            }
            Ok((_, Event::Finished)) => tally.done += 1,
            Ok((_, Event::Reset(code))) => return Err(format!("the server reset a stream: {code}").into()),
            Ok((_, Event::GoAway)) => return Err("the server wants no more".into()),
            Ok((_, Event::PriorityUpdate)) => {}
            Err(quiche::h3::Error::Done) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn receive(
    connection: &mut Connection,
    socket: &UdpSocket,
    local: SocketAddr,
    buffer: &mut [u8],
) -> Result<(), Failure> {
    loop {
        match socket.recv_from(buffer) {
            Ok((count, from)) => {
                // What can't be read is dropped, as the protocol wants.
                let _ = connection.recv(&mut buffer[..count], RecvInfo { from, to: local });
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn send(connection: &mut Connection, socket: &UdpSocket, buffer: &mut [u8]) -> Result<(), Failure> {
    loop {
        match connection.send(&mut buffer[..DATAGRAM_BYTES]) {
            Ok((count, info)) => match socket.send_to(&buffer[..count], info.to) {
                Ok(_) => {}
                // Lost, as on a full link; it is sent again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            },
            Err(quiche::Error::Done) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}
