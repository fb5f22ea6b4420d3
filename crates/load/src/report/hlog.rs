//! A report as an `HdrHistogram` interval log, version 1.3: what its log processors and plotters read.

use std::io;
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};

use crate::report::{Distribution, Report};

/// Values are ns; the column of the greatest is in ms, as the Java tools write it.
const NANOS_PER_MILLI: f64 = 1e6;

/// The log: each whole distribution under its tag, then one untagged line a slice.
///
/// `begun` is when sending began; the times of lines count from there.
pub fn render(report: &Report, begun: SystemTime) -> io::Result<Vec<u8>> {
    let mut log = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    let target = crate::report::figures::cut(&report.asked.url, 2000);
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&format!("[Photofinish load of {target}, {}; values in ns]", report.schema))
        .with_start_time(begun)
        .with_base_time(begun)
        .with_max_value_divisor(NANOS_PER_MILLI);
    let mut writer = builder.begin_log_with(&mut log, &mut serializer)?;
    writer
        .write_comment("\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")?;
    let whole = (report.warmup.cut_ns, report.measured_ns);
    let mut write = |(from, length): (u64, u64), tag: Option<&'static str>, times: &Distribution| {
        let tag = tag.and_then(Tag::new);
        writer
            .write_histogram(&times.decoded(), Duration::from_nanos(from), Duration::from_nanos(length), tag)
            .map_err(unwritten)
    };
    for (name, times) in whole_distributions(report) {
        write(whole, Some(name), times)?;
    }
    for slice in &report.slices {
        write((slice.from_ns, slice.span_ns), None, &slice.response)?;
    }
    Ok(log)
}

fn unwritten<E: std::fmt::Debug>(error: IntervalLogWriterError<E>) -> io::Error {
    match error {
        IntervalLogWriterError::IoError(error) => error,
        IntervalLogWriterError::SerializeError(error) => io::Error::other(format!("{error:?}")),
    }
}

/// Those that hold anything, by the names of their fields.
pub(super) fn whole_distributions(report: &Report) -> Vec<(&'static str, &Distribution)> {
    let latency = &report.latency;
    [
        ("response", Some(&latency.response)),
        ("service", Some(&latency.service)),
        ("lag", latency.lag.as_ref()),
        ("connect", Some(&latency.connect)),
        ("first_byte", Some(&latency.first_byte)),
        ("body", Some(&latency.body)),
    ]
    .into_iter()
    .filter_map(|(name, times)| Some((name, times.filter(|times| times.count > 0)?)))
    .collect()
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;
    use crate::latency;
    use crate::report::sample;

    fn begun() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_777_000_000_250)
    }

    #[test]
    fn a_reader_of_interval_logs_finds_every_slice_and_every_whole() {
        let report = sample::full();
        let log = render(&report, begun()).unwrap();
        assert!(log.starts_with(b"#[Histogram log format version 1.3]\n"));
        let mut tags = Vec::new();
        let (mut slices, mut base) = (Vec::new(), None);
        for entry in IntervalLogIterator::new(&log) {
            match entry.unwrap() {
                LogEntry::Interval(line) => match line.tag() {
                    Some(tag) => tags.push(tag.as_str().to_owned()),
                    None => slices.push((
                        line.start_timestamp(),
                        line.duration(),
                        latency::decode(line.encoded_histogram()).unwrap().len(),
                    )),
                },
                LogEntry::BaseTime(time) => base = Some(time),
                LogEntry::StartTime(time) => assert_eq!(time.as_millis(), 1_777_000_000_250),
            }
        }
        assert_eq!(base.unwrap().as_millis(), 1_777_000_000_250);
        assert_eq!(tags, ["response", "service", "lag", "connect", "first_byte", "body"]);
        assert_eq!(slices.len(), report.slices.len());
        assert_eq!(slices[3], (Duration::from_secs(3), Duration::from_secs(1), 1960));
    }

    #[test]
    fn a_report_without_responses_is_a_log_without_intervals() {
        let log = render(&sample::empty(), begun()).unwrap();
        assert!(IntervalLogIterator::new(&log).all(|entry| !matches!(entry, Ok(LogEntry::Interval(_)) | Err(_))));
    }
}
