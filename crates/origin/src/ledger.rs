//! Which connections of one loop carry which trials.

use std::sync::Arc;

use photofinish_net::{Conn, Net};

use crate::evidence::Evidence;
use crate::trial::Trial;

/// One entry a connection and trial: a handful, as a trial's contestant has few connections.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    carriers: Vec<(Conn, Arc<Trial>)>,
}

impl Ledger {
    /// A request over `conn` named `trial`.
    pub fn carry<N: Net>(&mut self, net: &mut N, conn: Conn, trial: &Arc<Trial>) {
        let known =
            self.carriers.iter().rev().any(|(carrier, carried)| *carrier == conn && Arc::ptr_eq(carried, trial));
        if !known {
            // Where the socket has no descriptor of its own, the first question makes one: better now than at the end.
            let _ = net.tcp_info(conn);
            self.carriers.push((conn, Arc::clone(trial)));
            trial.opened();
        }
    }

    /// Whether `conn` carries a trial.
    pub fn carries(&self, conn: Conn) -> bool {
        self.carriers.iter().any(|(carrier, _)| *carrier == conn)
    }

    /// `conn` is about to end, or has ended just now.
    pub fn part<N: Net>(&mut self, net: &mut N, conn: Conn) {
        if self.carries(conn) {
            let info = net.tcp_info(conn);
            self.carriers.retain(|(carrier, trial)| {
                if *carrier == conn {
                    trial.ended(info);
                }
                *carrier != conn
            });
        }
    }

    /// What `trial` has come to so far.
    pub fn evidence<N: Net>(&self, net: &mut N, trial: &Arc<Trial>) -> Evidence {
        let carriers = self.carriers.iter().filter(|(_, carried)| Arc::ptr_eq(carried, trial));
        let open: Vec<_> = carriers.map(|(conn, _)| net.tcp_info(*conn)).collect();
        trial.evidence(&open)
    }
}
