//! A table that requests take their values from, held once for all threads.

use std::io::Read;

use crate::mix::choose;
use crate::schedule::SplitMix64;

/// Which row a request gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// One after another, from the first again after the last.
    #[default]
    Sequence,
    /// Any, with replacement.
    Random,
}

/// Why a table can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The file is not CSV.
    #[error("{name}: {source}")]
    Csv {
        /// The file.
        name: String,
        /// What the reader says.
        source: csv::Error,
    },
    /// A row has more or fewer cells than the header.
    #[error(
        "{name}:{line}: {found} cells, but the header row names {wanted} columns: give every row one cell a column"
    )]
    Width {
        /// The file.
        name: String,
        /// Line of the row.
        line: u64,
        /// Cells of the row.
        found: u64,
        /// Cells of the header.
        wanted: u64,
    },
    /// A header row only, or nothing at all.
    #[error("{name} has no rows: write a header row and, below it, at least one row of values")]
    Empty {
        /// The file.
        name: String,
    },
    /// Two columns of one name.
    #[error("{name}:1: two columns are named `{column}`: give each its own name")]
    Twice {
        /// The file.
        name: String,
        /// Their name.
        column: String,
    },
}

/// Rows of cells, in one piece of memory.
#[derive(Debug)]
pub struct Rows {
    name: String,
    columns: Vec<String>,
    cells: Vec<u8>,
    /// Where each cell begins, row by row, and where the last one ends.
    bounds: Vec<usize>,
    /// The line at which each row begins.
    lines: Vec<u64>,
    order: RowOrder,
}

impl Rows {
    /// Reads CSV (RFC 4180) with a header row; `name` is what errors call it.
    pub fn read(name: &str, source: impl Read, order: RowOrder) -> Result<Self, RowsError> {
        let fail = |error: csv::Error| match *error.kind() {
            csv::ErrorKind::UnequalLengths { ref pos, expected_len, len } => RowsError::Width {
                name: name.to_owned(),
                line: pos.as_ref().map_or(0, csv::Position::line),
                found: len,
                wanted: expected_len,
            },
            _ => RowsError::Csv { name: name.to_owned(), source: error },
        };
        let mut reader = csv::Reader::from_reader(source);
        let columns: Vec<String> = reader.headers().map_err(fail)?.iter().map(|name| name.trim().to_owned()).collect();
        if let Some(column) = (1..columns.len())
            .map(|at| &columns[at])
            .find(|&name| columns.iter().filter(|other| *other == name).count() > 1)
        {
            return Err(RowsError::Twice { name: name.to_owned(), column: column.clone() });
        }
        let mut rows =
            Self { name: name.to_owned(), columns, cells: Vec::new(), bounds: vec![0], lines: Vec::new(), order };
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(fail)? {
            rows.lines.push(record.position().map_or(0, csv::Position::line));
            for cell in &record {
                rows.cells.extend_from_slice(cell);
                rows.bounds.push(rows.cells.len());
            }
        }
        if rows.lines.is_empty() {
            return Err(RowsError::Empty { name: name.to_owned() });
        }
        Ok(rows)
    }

    /// What errors call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Index of a column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Number of rows, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &[u8] {
        let at = row * self.columns.len() + column;
        &self.cells[self.bounds[at]..self.bounds[at + 1]]
    }

    /// The row of request `number`.
    pub(super) fn row(&self, number: u64, random: &mut SplitMix64) -> usize {
        match self.order {
            RowOrder::Sequence => (number % self.count() as u64) as usize,
            RowOrder::Random => choose::below(random, self.count()),
        }
    }

    /// The line of the first row whose cell holds a byte that `fits` does not allow.
    pub(super) fn misfit(&self, column: usize, fits: fn(u8) -> bool) -> Option<u64> {
        (0..self.count()).find(|&row| !self.cell(row, column).iter().copied().all(fits)).map(|row| self.lines[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Rows, RowsError> {
        Rows::read("t.csv", text.as_bytes(), RowOrder::Sequence)
    }

    #[test]
    fn cells_are_found_by_row_and_column() {
        let rows = rows("id, name\n1,\"a, b\"\n2,\"c\nd\"\n3,\n").unwrap();
        assert_eq!(rows.count(), 3);
        let name = rows.column("name").unwrap();
        assert_eq!(rows.cell(0, name), b"a, b");
        assert_eq!(rows.cell(1, name), b"c\nd");
        assert_eq!((rows.cell(2, 0), rows.cell(2, name)), (&b"3"[..], &b""[..]));
        assert_eq!(rows.misfit(name, |byte| byte != b'\n'), Some(3));
    }

    #[test]
    fn a_table_that_can_not_be_used_is_refused_with_its_line() {
        for (text, wanted) in [
            ("a,b\n1,2\n3\n", "t.csv:3: 1 cells, but the header row names 2"),
            ("a,b\n", "t.csv has no rows"),
            ("", "t.csv has no rows"),
            ("a,b,a\n1,2,3\n", "two columns are named `a`"),
        ] {
            let message = rows(text).unwrap_err().to_string();
            assert!(message.contains(wanted), "{message}");
        }
    }

    #[test]
    fn rows_come_in_turn_and_begin_again_or_at_random_each_alike() {
        let mut random = SplitMix64(5);
        let in_turn = rows("a\n0\n1\n2\n").unwrap();
        let taken: Vec<usize> = (0..5).map(|number| in_turn.row(number, &mut random)).collect();
        assert_eq!(taken, [0, 1, 2, 0, 1]);
        let any = Rows::read("t.csv", "a\n0\n1\n2\n".as_bytes(), RowOrder::Random).unwrap();
        let mut counts = [0; 3];
        (0..30_000).for_each(|_| counts[any.row(0, &mut random)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
