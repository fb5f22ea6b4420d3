//! What both back ends owe to a handler, tried over loopback.

mod connecting;
mod datagrams;
mod discarding;
mod echo;
mod ending;
mod halting;
<<<<<<< HEAD
mod secure;
=======
mod quic;
>>>>>>> 66ec462 (Let handlers have connections by QUIC: quinn-proto around both loops, without threads, locks or a runtime)
mod support;
mod timers;
