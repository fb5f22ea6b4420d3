//! A report as one HTML file: no scripts, no network, light and dark, for the eye, the keyboard, the printer, the reader.

mod axis;
mod drawing;
mod plots;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::report::figures::{bytes, counted, grouped, grouped_f64, seconds, span, span_or_dash, spoken};
use crate::report::text::pace;
use crate::report::{Floor, Report, ServerPart};
use crate::verdict::Bound;

const STYLE: &str = include_str!("report.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page.
#[must_use]
pub fn render(report: &Report) -> String {
    let asked = &report.asked;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("Photofinish ", env!("CARGO_PKG_VERSION")));
                title { "Load of " (asked.url) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#answer" { "To the answer" }
                header {
                    p class="kicker" { "Photofinish · load" }
                    h1 { (asked.method) " " (asked.url) }
                    p class="facts" { (facts(report)) }
                }
                main {
                    (answer(report))
                    (cards(report))
                    (thresholds(report))
                    (times(report))
                    (over_time(report))
                    (requests(report))
                    (cost(report))
                    (evidence(report))
                    (words(report))
                }
                footer { p { (facts(report)) } }
            }
        }
    }
    .into_string()
}

fn facts(report: &Report) -> String {
    let asked = &report.asked;
    let mut facts = vec![
        asked.address.clone(),
        pace(asked),
        counted(u64::from(asked.connections), "connection"),
        counted(u64::from(asked.threads), "thread"),
        report.backend_with_reason(),
        seconds(report.measured_ns),
    ];
    if report.interrupted {
        facts.push("interrupted".to_owned());
    }
    facts.join(" · ")
}

fn answer(report: &Report) -> Markup {
    let rate = grouped_f64(report.throughput.accepted_per_s);
    let p99 = span_or_dash(report.latency.response.p99_ns);
    let (sentence, doubt) = match report.verdict.bound {
        Bound::ServerBound => (format!("The server gave {rate} accepted responses a second, and not more."), false),
        Bound::ScheduleBound => {
            (format!("At {rate} accepted responses a second, 99 % of the responses took at most {p99}."), false)
        }
        Bound::GeneratorBound => {
            (format!("The generator was the bottleneck: {rate} a second says nothing about the server."), true)
        }
        Bound::Undecided => ("What was measured does not say what bound the rate.".to_owned(), true),
    };
    let pipeline = report.asked.pipeline;
    html! {
        section #answer class=(if doubt { "answer doubt" } else { "answer" }) aria-label="Answer" {
            p class="sentence" { (sentence) }
            p { code { (report.verdict.bound.code()) } " " (report.verdict.reasons.join("; ")) }
            @if pipeline > 1 {
                p { strong { "Pipelined, " (pipeline) " deep: not comparable with unpipelined figures." } }
            }
            @if report.asked.insecure {
                p { strong { "Insecure: any certificate was trusted, so nothing proves who answered." } }
            }
            @if let Some(rate) = &report.rate {
                p {
                    @if rate.reached { "The intended rate was reached: " } @else { strong { "The intended rate was not reached: " } }
                    (grouped_f64(rate.sent_per_s)) " sent a second of " (grouped_f64(rate.intended_per_s))
                    " (" (format!("{:+.3} %", rate.error * 100.0)) ")."
                }
            }
        }
    }
}

fn cards(report: &Report) -> Markup {
    let times = &report.latency.response;
    let failed = report.requests.failed_total;
    let one = |name: &str, value: &str, beside: &str| {
        html! {
            div { dt { (name) } dd { (value) @if !beside.is_empty() { " " small { (beside) } } } }
        }
    };
    let cpu = report.engine.cpu_ns_per_request;
    html! {
        dl class="cards" {
            (one("accepted", &grouped_f64(report.throughput.accepted_per_s), "a second"))
            (one("median", &span_or_dash(times.p50_ns), "response time"))
            (one("99 %", &span_or_dash(times.p99_ns), "response time"))
            (one("failed", &grouped(failed), &format!("of {} sent", grouped(report.requests.sent))))
            @if let Some(server) = report.server.as_ref().and_then(|server| server.cpu_ns_per_request) {
                (one("server", &format!("{:.2} µs", server / 1000.0), "CPU a request"))
            }
            (one("generator", &format!("{:.0} %", report.engine.busy_share * 100.0), &cpu
                .map_or_else(|| "busy".to_owned(), |cpu| format!("busy, {:.2} µs CPU a request", cpu / 1000.0))))
        }
    }
}

fn thresholds(report: &Report) -> Markup {
    html! {
        @if !report.thresholds.is_empty() {
            section aria-labelledby="thresholds" {
                h2 #thresholds { "Conditions" }
                (tables::thresholds(report))
            }
        }
    }
}

fn figure(plot: Option<&Markup>, label: &str, caption: &str) -> Markup {
    html! {
        @if let Some(plot) = plot {
            figure {
                div class="wide" role="region" tabindex="0" aria-label=(format!("Plot: {label}")) { (plot) }
                figcaption { (caption) }
            }
        }
    }
}

fn times(report: &Report) -> Markup {
    let open = report.latency.lag.is_some();
    let meaning = if open {
        "Response time counts from the intended start, service time from the sending; lag is between them. The far right \
         rests on few requests."
    } else {
        "A closed loop has no schedule: response time counts from the sending, and a freeze of the server shows as one slow \
         response for each connection. The far right rests on few requests."
    };
    let held = report.latency.response.count > 0;
    html! {
        section aria-labelledby="times" {
            h2 #times { "How long it took" }
            (figure(plots::percentiles(report).as_ref(), "percentile curves", meaning))
            (tables::percentiles(report))
            @if held {
                (figure(plots::spread(report).as_ref(), "spread of response times", "Bars of equal width on a logarithmic scale."))
                details { summary { "Table of the spread" } (tables::spread(report)) }
            }
        }
    }
}

fn over_time(report: &Report) -> Markup {
    let times = plots::over_time(report);
    let rate = plots::rate(report);
    html! {
        @if times.is_some() || rate.is_some() {
            section aria-labelledby="time" {
                h2 #time { "How it went" }
                (figure(times.as_ref(), "response time over time", "Each point is a slice; what is shaded was left out as warm-up."))
                (figure(rate.as_ref(), "rate over time", "The dashed line, if any, is the intended rate."))
                details { summary { "Table of the slices (" (report.slices.len()) ")" } (tables::slices(report)) }
            }
        }
    }
}

fn requests(report: &Report) -> Markup {
    html! {
        section aria-labelledby="requests" {
            h2 #requests { "What was asked, what came back" }
            (tables::counts(report))
            @if let Some(example) = &report.failure_example { p { "The first failure: " (example) } }
            @if report.entries.len() > 1 { (tables::entries(report)) }
        }
    }
}

fn cost(report: &Report) -> Markup {
    let engine = &report.engine;
    html! {
        section aria-labelledby="cost" {
            h2 #cost { "What it cost" }
            dl class="list" {
                @if let (Some(cpu), Some(calls)) = (engine.cpu_ns_per_request, engine.syscalls_per_request) {
                    dt { "generator" }
                    dd { (format!("{:.2} µs CPU and {calls:.2} system calls a request", cpu / 1000.0)) }
                }
                @if let Some(lag) = engine.send_lag_p99_ns {
                    dt { "own delay" } dd { "99 % of the requests left at most " (span(lag)) " late by the generator's own fault" }
                }
                @if let Some(residue) = report.little.residue {
                    dt { "Little's law" }
                    dd { (format!("{:.2} in flight, rate × service {:.2}: {:.2} % apart",
                        report.little.mean_in_flight, report.little.rate_times_service, residue * 100.0)) }
                }
                @if let Some(server) = &report.server { (server_cost(server)) }
                dt { "floor" }
                dd { @match &report.floor { Some(floor) => (floor_words(floor)), None => {
                    "not measured on this machine: " code { "photofinish load --self-check" } } } }
            }
            @if engine.threads.len() > 1 { (tables::threads(report)) }
        }
    }
}

fn server_cost(server: &ServerPart) -> Markup {
    let figures = [
        server.cpu_ns_per_request.map(|each| format!("{:.2} µs CPU a request", each / 1000.0)),
        server.cpu_ns.map(|cpu| format!("{} CPU", span(cpu))),
        server.rss_bytes.map(|now| format!("{} resident", bytes(now as f64))),
        server.rss_peak_bytes.map(|peak| format!("at most {}", bytes(peak as f64))),
        server.voluntary_switches.map(|count| format!("{} switches of its own accord", grouped(count))),
        server.involuntary_switches.map(|count| format!("{} forced", grouped(count))),
        server.processes.map(|count| counted(u64::from(count), "process")),
        server.threads.map(|count| counted(u64::from(count), "thread")),
        server.note.clone(),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    html! { dt { "server" } dd { (server.kind) ": " (figures.join(" · ")) } }
}

fn floor_words(floor: &Floor) -> Markup {
    html! {
        "against a server that does nothing, this machine takes " (span(floor.null_p50_ns)) " at the median and "
        (span(floor.null_p99_ns)) " at 99 %. Differences below " (span(floor.stall_error_ns)) " of a percentile or "
        (format!("{:.3} %", floor.rate_error * 100.0)) " of a rate are not measurable (self-check of " (floor.measured_at) ")."
    }
}

fn evidence(report: &Report) -> Markup {
    html! {
        @if let Some(seen) = &report.evidence {
            section aria-labelledby="evidence" {
                h2 #evidence { "Evidence" }
                p { "The first response: status " (seen.status) ", body " (grouped(seen.body_bytes)) " bytes, xxh3 " code { (seen.body_xxh3) } }
                p { "Spoken: " (spoken(report)) }
                details { summary { "Its head" } pre { (seen.head) } }
            }
        }
    }
}

fn words(report: &Report) -> Markup {
    html! {
        section aria-labelledby="words" {
            h2 #words { "Words" }
            dl class="list" {
                dt { "accepted" } dd { "a response that passed every check: status, length and hash of the whole body" }
                dt { "in flight at the end" } dd { "sent and not answered when the load was over: how they would have ended is not known" }
                dt { "server-bound" } dd { "the generator had time to spare, and the server did not go faster" }
                dt { "schedule-bound" } dd { "the figures hold at this rate; the capacity is not known" }
                dt { "generator-bound" } dd { "the generator was itself the bottleneck: the figures are not the server's" }
                @if report.asked.mode == "open" { dt { "open loop" } dd { "a schedule decides when requests leave, whatever the server does" } }
                @else { dt { "closed loop" } dd { "each connection sends again as soon as it was answered" } }
            }
        }
    }
}

#[cfg(test)]
mod tests;
