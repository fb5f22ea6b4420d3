use photofinish_load::live::{Marks, Stage};
use photofinish_load::{Reason, Tally};
use photofinish_net::Nanos;
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use super::super::scene::Scene;
use super::{About, Colors, View};

fn view(colored: bool) -> View {
    let about = About {
        target: "GET http://127.0.0.1:8080/".to_owned(),
        pace: "open loop, 5,010 requests/s, constant arrivals".to_owned(),
        connections: 50,
        backend: "io_uring".to_owned(),
    };
    View { about, colors: Colors(colored) }
}

fn drawn(scene: &Scene, size: (u16, u16), colored: bool) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| view(colored).draw(frame, &scene.snapshot())).unwrap();
    terminal.backend().clone()
}

fn assert_shows(backend: &TestBackend, parts: &[&str]) {
    let text = backend.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

#[test]
fn everything_is_readable_in_eighty_columns_and_twenty_four_rows() {
    assert_shows(
        &drawn(&Scene::busy(60), (80, 24), true),
        &[
            "GET http://127.0.0.1:8080/",
            "open loop, 5,010 requests/s, constant arrivals · 50 connections · io_uring",
            "sending · 18 s left",
            "q ends",
            "5,000/s of 5,010 intended",
            "42 % headroom",
            "in flight  12",
            "server     0.84 cores",
            "failed     60: status 30, timeout 30",
            "p99.9",
            "10 ms",
            "≤",
        ],
    );
}

#[test]
fn before_the_first_response_it_says_so_instead_of_showing_zeros() {
    assert_shows(&drawn(&Scene::empty(), (80, 24), true), &["connecting", "no response yet", "p50 –", "none"]);
}

#[test]
fn a_generator_without_headroom_is_named_in_red() {
    for (busy, word, color) in [
        (0.59, "59 % headroom", Color::Green),
        (0.6, "60 % little headroom", Color::Yellow),
        (0.8, "80 % generator-bound", Color::Red),
    ] {
        let mut scene = Scene::busy(10);
        scene.ticks.iter_mut().for_each(|tick| tick.busy_share = busy);
        let backend = drawn(&scene, (100, 30), true);
        assert_shows(&backend, &[word]);
        let buffer = backend.buffer();
        let at = buffer.content().iter().position(|cell| cell.symbol() == "%").unwrap();
        assert_eq!(buffer.content()[at].fg, color, "{word}");
    }
}

#[test]
fn without_colors_nothing_is_colored() {
    let backend = drawn(&Scene::busy(60), (80, 24), false);
    assert!(backend.buffer().content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

fn any_tally() -> impl Strategy<Value = Tally> {
    (any::<u32>(), any::<u32>(), prop::collection::vec(0..Reason::ALL.len(), 0..20), any::<u32>()).prop_map(
        |(sent, accepted, reasons, wire)| {
            let mut tally =
                Tally { sent: sent.into(), accepted: accepted.into(), unsent: sent.into(), ..Tally::default() };
            tally.wire_bytes = wire.into();
            for index in reasons {
                tally.failed.count(Reason::ALL[index]);
            }
            tally
        },
    )
}

fn any_tick() -> impl Strategy<Value = photofinish_load::live::Tick> {
    let marks = prop::option::of([any::<u64>(), any::<u64>(), any::<u64>()]);
    let figures = (prop::num::f64::ANY, prop::option::of(prop::num::f64::ANY));
    (any::<u32>(), any::<u32>(), any_tally(), marks, figures, any::<u64>()).prop_map(
        |(at, span, tally, marks, (busy_share, server_cores), in_flight)| photofinish_load::live::Tick {
            at: Nanos(u64::from(at) * 1000),
            span: Nanos(span.into()),
            tally,
            marks: marks.map(|[p50, p99, max]| Marks { p50, p90: p50, p99, p999: p99, max }),
            busy_share,
            server_cores,
            in_flight,
        },
    )
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let stage = prop::sample::select(vec![Stage::Connecting, Stage::Sending, Stage::Draining]);
    let ends = (prop::option::of(any::<u64>()), prop::option::of(any::<u64>()), prop::option::of(prop::num::f64::ANY));
    let times = prop::collection::vec(1_u64..=120_000_000_000, 0..50);
    (stage, any::<u64>(), ends, any_tally(), times, prop::collection::vec(any_tick(), 0..40)).prop_map(
        |(stage, elapsed, (duration, requests, intended_per_s), tally, times, ticks)| {
            let mut scene = Scene::empty();
            for time in times {
                scene.response.saturating_record(time);
            }
            Scene {
                stage,
                elapsed: Nanos(elapsed),
                duration: duration.map(Nanos),
                requests,
                intended_per_s,
                tally,
                ticks,
                ..scene
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_snapshot_is_drawn_on_any_size(scene in any_scene(), columns in 0_u16..130, rows in 0_u16..50, colored: bool) {
        drawn(&scene, (columns, rows), colored);
    }
}
