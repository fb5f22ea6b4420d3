//! What both back ends owe to a handler, tried over loopback.

mod connecting;
mod datagrams;
mod discarding;
mod echo;
mod ending;
mod halting;
mod quic;
mod secure;
mod secure_ends;
mod support;
mod timers;
