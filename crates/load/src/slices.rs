//! A load cut into slices of time: what each saw, in memory that does not grow with the length of the load.
//!
//! A thread hands its histograms over at each boundary and goes on with empty ones, so that nobody reads what a loop
//! writes. The collector, on a thread of its own, adds them up. When there are too many slices, neighbours become one.

use std::sync::mpsc::{Receiver, Sender, channel};

use hdrhistogram::Histogram;
use photofinish_net::Nanos;

use crate::latency::Compact;
use crate::live::{Marks, Tick};
use crate::{Latencies, Tally};

/// Slices that a report keeps at most.
pub const MOST_SLICES: usize = 120;
/// Ticks that a live view gets at most.
const MOST_TICKS: usize = 400;
/// Sets of histograms that one driver has beside the one in use.
const SPARES: usize = 2;

/// What one driver of one thread saw in one slice.
pub struct Harvest {
    /// Number of the slice, from 0.
    pub index: u64,
    /// Latencies since the last harvest that brought any; none if there were no spare histograms.
    pub latencies: Option<Box<Latencies>>,
    /// Its counts.
    pub tally: Tally,
    /// Time in which the thread worked; 0 for all drivers of a thread but the first.
    pub busy: Nanos,
    /// Time in which the thread waited; likewise.
    pub waited: Nanos,
    /// Requests in flight at its end.
    pub in_flight: u32,
    /// Which driver of which thread, to send the emptied histograms back to.
    pub from: usize,
}

/// A driver's end of the exchange.
pub struct Reaper {
    spares: Receiver<Box<Latencies>>,
    harvests: Sender<Harvest>,
    from: usize,
    /// Counts at the last harvest.
    before: Tally,
}

impl Reaper {
    /// Hands over what was seen since the last harvest. While the collector has all spare histograms, the latencies stay
    /// and become part of a later slice; the counts are those of their slice however late the collector is.
    pub fn reap(&mut self, index: u64, latencies: &mut Box<Latencies>, tally: &Tally, of: Share) {
        let full = self.spares.try_recv().ok().map(|spare| std::mem::replace(latencies, spare));
        self.hand_over(index, full, tally, of);
    }

    /// The last harvest.
    pub fn reap_last(&mut self, index: u64, latencies: Box<Latencies>, tally: &Tally, of: Share) {
        self.hand_over(index, Some(latencies), tally, of);
    }

    fn hand_over(&mut self, index: u64, latencies: Option<Box<Latencies>>, tally: &Tally, of: Share) {
        let Share { busy, waited, in_flight } = of;
        let counted = tally.since(&self.before);
        self.before = *tally;
        let harvest = Harvest { index, latencies, tally: counted, busy, waited, in_flight, from: self.from };
        // The collector is gone only if the whole load was given up.
        let _ = self.harvests.send(harvest);
    }
}

/// The thread's own figures for a slice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Time in which it worked.
    pub busy: Nanos,
    /// Time in which it waited.
    pub waited: Nanos,
    /// Requests in flight at the end.
    pub in_flight: u32,
}

/// One slice, or several neighbours that became one.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Counts.
    pub tally: Tally,
    /// Latencies.
    pub latencies: Compact,
    /// Largest busy share of a harvest, 0 to 1.
    pub busy_share: f64,
    /// Requests in flight at the end, and of which base slice that is.
    pub in_flight: (u64, u64),
    /// CPU time of the watched server in this slice.
    pub server_cpu_ns: Option<u64>,
}

/// Adds up all harvests.
pub struct Collector {
    base: Nanos,
    /// Base slices a slice.
    factor: u64,
    open: bool,
    slices: Vec<Slice>,
    total: Latencies,
    tally: Tally,
    recent: Histogram<u64>,
    recent_busy: f64,
    in_flight: Vec<u64>,
    before: Tally,
    ticks: Vec<Tick>,
    harvests: Receiver<Harvest>,
    returns: Vec<Sender<Box<Latencies>>>,
}

impl Collector {
    /// A collector and the ends for so many drivers, all threads counted. `base`: length of the shortest slice.
    #[must_use]
    pub fn new(drivers: usize, base: Nanos, open: bool) -> (Self, Vec<Reaper>) {
        let (harvests, receiver) = channel();
        let mut reapers = Vec::with_capacity(drivers);
        let mut returns = Vec::with_capacity(drivers);
        for from in 0..drivers {
            let (give, spares) = channel();
            for _ in 0..SPARES {
                // Both ends are here.
                let _ = give.send(Box::new(Latencies::new(open)));
            }
            returns.push(give);
            reapers.push(Reaper { spares, harvests: harvests.clone(), from, before: Tally::default() });
        }
        let collector = Self {
            base,
            factor: 1,
            open,
            slices: Vec::new(),
            total: Latencies::new(open),
            tally: Tally::default(),
            recent: crate::latency::empty(),
            recent_busy: 0.0,
            in_flight: vec![0; drivers],
            before: Tally::default(),
            ticks: Vec::new(),
            harvests: receiver,
            returns,
        };
        (collector, reapers)
    }

    /// Takes what has been handed over.
    pub fn gather(&mut self) {
        while let Ok(harvest) = self.harvests.try_recv() {
            self.take(harvest);
        }
    }

    fn take(&mut self, harvest: Harvest) {
        let Harvest { index, latencies, tally, busy, waited, in_flight, from } = harvest;
        let busy_share = busy.0 as f64 / (busy + waited).0.max(1) as f64;
        let slice = self.slice_at(index);
        slice.tally.add(&tally);
        if let Some(latencies) = &latencies {
            slice.latencies.add(latencies);
        }
        slice.busy_share = slice.busy_share.max(busy_share);
        if slice.in_flight.0 == index {
            slice.in_flight.1 += u64::from(in_flight);
        } else if slice.in_flight.0 < index {
            slice.in_flight = (index, u64::from(in_flight));
        }
        self.tally.add(&tally);
        self.recent_busy = self.recent_busy.max(busy_share);
        self.in_flight[from] = u64::from(in_flight);
        let Some(mut latencies) = latencies else { return };
        self.total.merge(&latencies);
        if !latencies.response.is_empty() {
            // Histograms of one kind fit each other.
            let _ = self.recent.add(&latencies.response);
        }
        latencies.clear();
        let _ = self.returns[from].send(latencies);
    }

    fn slice_at(&mut self, index: u64) -> &mut Slice {
        while index / self.factor >= MOST_SLICES as u64 {
            self.coarsen();
        }
        let at = (index / self.factor) as usize;
        let open = self.open;
        if at >= self.slices.len() {
            self.slices.resize_with(at + 1, || Slice {
                tally: Tally::default(),
                latencies: Compact::new(open),
                busy_share: 0.0,
                in_flight: (0, 0),
                server_cpu_ns: None,
            });
        }
        &mut self.slices[at]
    }

    fn coarsen(&mut self) {
        self.factor *= 2;
        let mut pairs = std::mem::take(&mut self.slices).into_iter();
        while let Some(mut slice) = pairs.next() {
            if let Some(next) = pairs.next() {
                slice.tally.add(&next.tally);
                slice.latencies.merge(&next.latencies);
                slice.busy_share = slice.busy_share.max(next.busy_share);
                slice.in_flight = slice.in_flight.max(next.in_flight);
                slice.server_cpu_ns = match (slice.server_cpu_ns, next.server_cpu_ns) {
                    (None, None) => None,
                    (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
                };
            }
            self.slices.push(slice);
        }
    }

    /// Books CPU time that the watched server used up to `at` since the last booking, at the slice of `at`.
    pub fn book_server(&mut self, at: Nanos, cpu_ns: u64) {
        let slice = self.slice_at(at.0 / self.base.0);
        *slice.server_cpu_ns.get_or_insert(0) += cpu_ns;
    }

    /// Ends a span of the live view at `at`.
    pub fn tick(&mut self, at: Nanos, server_cores: Option<f64>) {
        let span = at.since(self.ticks.last().map_or(Nanos(0), |tick| tick.at));
        self.ticks.push(Tick {
            at,
            span,
            tally: self.tally.since(&self.before),
            marks: Marks::of(&self.recent),
            busy_share: self.recent_busy,
            server_cores,
            in_flight: self.in_flight.iter().sum(),
        });
        if self.ticks.len() > MOST_TICKS {
            self.ticks.drain(..MOST_TICKS / 4);
        }
        self.before = self.tally;
        self.recent.reset();
        self.recent_busy = 0.0;
    }

    /// The last spans of the live view.
    #[must_use]
    pub fn ticks(&self) -> &[Tick] {
        &self.ticks
    }

    /// Counts so far.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Latencies so far.
    #[must_use]
    pub const fn total(&self) -> &Latencies {
        &self.total
    }

    /// Length of one slice.
    #[must_use]
    pub fn slice_span(&self) -> Nanos {
        Nanos(self.base.0 * self.factor)
    }

    /// All slices, from the start of sending on; the last ones may belong to the drain.
    #[must_use]
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Moments;

    fn share() -> Share {
        Share { busy: Nanos(1), waited: Nanos(3), in_flight: 2 }
    }

    /// One accepted request of `nanos` in slice `index`.
    fn reap(reaper: &mut Reaper, latencies: &mut Box<Latencies>, tally: &mut Tally, index: u64, nanos: u64) {
        let at = Moments { intended: Nanos(0), sent: Nanos(0), first_byte: Nanos(nanos), completed: Nanos(nanos) };
        latencies.completed(at);
        tally.sent += 1;
        tally.accepted += 1;
        reaper.reap(index, latencies, tally, share());
    }

    #[test]
    fn nothing_is_lost_when_slices_become_coarser() {
        let (mut collector, mut reapers) = Collector::new(1, Nanos::from_millis(100), false);
        let (mut latencies, mut tally) = (Box::new(Latencies::new(false)), Tally::default());
        for index in 0..1000 {
            reap(&mut reapers[0], &mut latencies, &mut tally, index, 1000 + index);
            collector.gather();
        }
        assert!(collector.slices().len() <= MOST_SLICES);
        assert_eq!(collector.slice_span(), Nanos::from_millis(1600));
        let mut sum = Compact::new(false);
        for (at, slice) in collector.slices().iter().enumerate() {
            assert_eq!(slice.tally.accepted, if at < 62 { 16 } else { 8 });
            sum.merge(&slice.latencies);
        }
        assert_eq!(sum.expand().response, collector.total().response);
        assert_eq!(sum.response(), collector.total().response);
        assert_eq!(collector.tally().accepted, 1000);
    }

    #[test]
    fn a_collector_that_is_late_still_gets_the_counts_of_each_slice_and_all_latencies() {
        let (mut collector, mut reapers) = Collector::new(1, Nanos::from_millis(100), false);
        let (mut latencies, mut tally) = (Box::new(Latencies::new(false)), Tally::default());
        (0..5).for_each(|index| reap(&mut reapers[0], &mut latencies, &mut tally, index, 7));
        reapers[0].reap_last(5, latencies, &tally, share());
        collector.gather();
        assert_eq!((collector.tally().accepted, collector.total().response.len()), (5, 5));
        let counts: Vec<u64> = collector.slices().iter().map(|slice| slice.tally.accepted).collect();
        assert_eq!(counts, [1, 1, 1, 1, 1, 0]);
        let held: Vec<u64> = collector.slices().iter().map(|slice| slice.latencies.expand().response.len()).collect();
        assert_eq!(held, [1, 1, 0, 0, 0, 3], "no more histograms than {SPARES} were there to be handed over");
    }

    #[test]
    fn a_tick_holds_what_came_since_the_last_one() {
        let (mut collector, mut reapers) = Collector::new(2, Nanos::from_millis(100), false);
        let (mut latencies, mut tally) = (Box::new(Latencies::new(false)), Tally::default());
        reap(&mut reapers[1], &mut latencies, &mut tally, 0, 5000);
        collector.gather();
        collector.tick(Nanos(100), Some(0.5));
        collector.tick(Nanos(200), None);
        let [first, second] = collector.ticks() else { panic!("two ticks") };
        assert_eq!((first.tally.accepted, first.in_flight, first.busy_share), (1, 2, 0.25));
        assert_eq!(first.marks.map(|marks| marks.max), Some(5003));
        assert_eq!((second.tally.accepted, second.marks, second.span), (0, None, Nanos(100)));
    }
}
