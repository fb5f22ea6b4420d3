//! The frame that all plots share: grid, axes, curves with their names at the ends.

use std::fmt::Write;

use maud::{Markup, html};

use super::axis::Axis;

pub const WIDTH: f64 = 960.0;
pub const HEIGHT: f64 = 360.0;
pub const LEFT: f64 = 76.0;
pub const RIGHT: f64 = 840.0;
pub const TOP: f64 = 22.0;
pub const BOTTOM: f64 = 306.0;
/// Least distance of two labels.
const LABEL_GAP: f64 = 15.0;
/// Points nearer than this to the one before are left out: less than the width of the line.
const NEAR: f64 = 0.8;

/// A line with its name; `class` is its colour.
pub struct Curve {
    pub name: &'static str,
    pub class: &'static str,
    pub points: Vec<(f64, f64)>,
}

/// What a plot is called, and what it says to those who do not see it.
pub struct Words<'a> {
    pub id: &'static str,
    pub title: &'a str,
    pub told: &'a str,
    pub across: &'a str,
    pub upward: &'a str,
}

/// A plot: grid and tick labels from the axes, `under` below the curves.
pub fn plot(
    words: &Words<'_>,
    across: &[(f64, String)],
    upward: &[(f64, String)],
    under: &Markup,
    curves: &[Curve],
) -> Markup {
    let (title, told) = (format!("{}-title", words.id), format!("{}-told", words.id));
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-labelledby=(title) aria-describedby=(told) {
            title id=(title) { (words.title) }
            desc id=(told) { (words.told) }
            @for (x, label) in across {
                line class="grid" x1=(at(*x)) x2=(at(*x)) y1=(TOP) y2=(BOTTOM) {}
                text class="tick" x=(at(*x)) y=(BOTTOM + 18.0) text-anchor="middle" { (label) }
            }
            @for (y, label) in upward {
                line class="grid" x1=(LEFT) x2=(RIGHT) y1=(at(*y)) y2=(at(*y)) {}
                text class="tick" x=(LEFT - 8.0) y=(at(*y + 4.0)) text-anchor="end" { (label) }
            }
            text class="axis" x=(f64::midpoint(LEFT, RIGHT)) y=(BOTTOM + 42.0) text-anchor="middle" { (words.across) }
            text class="axis" x=(LEFT) y=(TOP - 10.0) text-anchor="start" { (words.upward) }
            (under)
            @for curve in curves { (line(curve)) }
            (labels(curves))
        }
    }
}

/// One decimal of an SVG unit is finer than any screen.
pub fn at(place: f64) -> String {
    format!("{place:.1}")
}

fn line(curve: &Curve) -> Markup {
    let mut path = String::new();
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in &curve.points {
        if last.is_none_or(|(left, up)| (x - left).hypot(y - up) >= NEAR) {
            let step = if path.is_empty() { "M" } else { "L" };
            write!(path, "{step}{x:.1} {y:.1}").expect("writing to memory succeeds");
            last = Some((x, y));
        }
    }
    html! {
        @if let [(x, y)] = curve.points[..] {
            circle class=(format!("dot {}", curve.class)) cx=(at(x)) cy=(at(y)) r="4" {}
        } @else if !path.is_empty() {
            path class=(format!("curve {}", curve.class)) d=(path) { title { (curve.name) } }
        }
    }
}

/// Names at the ends of their lines, moved apart where they would overlap.
fn labels(curves: &[Curve]) -> Markup {
    let mut ends: Vec<(f64, &Curve)> =
        curves.iter().filter_map(|curve| Some((curve.points.last()?.1, curve))).collect();
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut free = TOP;
    for (y, _) in &mut ends {
        *y = y.max(free);
        free = *y + LABEL_GAP;
    }
    let surplus = (free - LABEL_GAP - BOTTOM).max(0.0);
    html! {
        @for (y, curve) in ends {
            text class=(format!("label {}", curve.class)) x=(RIGHT + 12.0) y=(at(y - surplus + 4.0)) { (curve.name) }
        }
    }
}

/// Ticks of an axis with their labels.
pub fn ticks(axis: &Axis, label: impl Fn(f64) -> String) -> Vec<(f64, String)> {
    axis.ticks().into_iter().map(|tick| (axis.place(tick), label(tick))).collect()
}
