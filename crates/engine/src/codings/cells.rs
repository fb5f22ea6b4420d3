//! Which cells there are: a coding at a level, some of them twice.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::str::FromStr;

use photofinish_http::coding::{Coding, Setting};

/// What ends the id of a second entry of the same cell.
const TWIN: &str = "~twin";

/// One thing that is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// `coding-level`.
    pub id: String,
    pub setting: Setting,
    /// The id of the cell that this is an A/A control of.
    pub twin_of: Option<String>,
}

/// What can be encoded without a dictionary: the parser of `--codings`.
pub fn coding(name: &str) -> Result<Coding, String> {
    let usable = |coding: &Coding| *coding != Coding::Identity && !coding.needs_dictionary();
    Coding::named(name.as_bytes()).filter(usable).ok_or_else(|| "there are gzip, deflate, br and zstd".to_owned())
}

/// `zstd=1-9`: levels of one coding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelList {
    coding: Coding,
    levels: RangeInclusive<u64>,
}

impl FromStr for LevelList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "levels are given as CODING=A-B or CODING=A, such as zstd=1-9".to_owned();
        let (name, range) = text.split_once('=').ok_or_else(form)?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| form());
        let levels = number(first)?..=number(last)?;
        let coding = coding(name.trim())?;
        if levels.is_empty() {
            return Err(format!("{text} is empty: write the lower level first"));
        }
        for level in [*levels.start(), *levels.end()] {
            Setting::new(coding, Some(level), None).map_err(|error| error.to_string())?;
        }
        Ok(Self { coding, levels })
    }
}

/// Every level of every coding that is asked for, the lowest first; the coding's default, or the lowest level there is, has
/// a twin.
pub fn wanted(codings: &[Coding], lists: &[LevelList]) -> Result<Vec<Cell>, String> {
    if let Some(other) = lists.iter().find(|list| !codings.contains(&list.coding)) {
        return Err(format!("--levels names {0}, which --codings does not: add {0} there", other.coding));
    }
    let mut cells = Vec::new();
    let mut seen = Vec::new();
    for &coding in codings {
        if seen.contains(&coding) {
            continue;
        }
        seen.push(coding);
        let range = coding.levels().unwrap_or(0..=0);
        let named: Vec<&LevelList> = lists.iter().filter(|list| list.coding == coding).collect();
        let levels: Vec<u64> = range
            .map(u64::from)
            .filter(|level| named.is_empty() || named.iter().any(|list| list.levels.contains(level)))
            .collect();
        let default = u64::from(coding.default_level());
        let doubled = if levels.contains(&default) { Some(default) } else { levels.first().copied() };
        for &level in &levels {
            let setting = Setting::new(coding, Some(level), None).map_err(|error| error.to_string())?;
            let id = format!("{coding}-{level}");
            if doubled == Some(level) {
                let mut twin = id.clone();
                // Writing to a String can't fail.
                let _ = write!(twin, "{TWIN}");
                cells.push(Cell { id: id.clone(), setting, twin_of: None });
                cells.push(Cell { id: twin, setting, twin_of: Some(id) });
            } else {
                cells.push(Cell { id, setting, twin_of: None });
            }
        }
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use photofinish_http::coding::Coding;

    use super::{LevelList, wanted};

    fn ids(codings: &[Coding], lists: &[&str]) -> Vec<String> {
        let lists: Vec<LevelList> = lists.iter().map(|list| list.parse().expect("a list")).collect();
        wanted(codings, &lists).expect("cells").into_iter().map(|cell| cell.id).collect()
    }

    #[test]
    fn every_level_is_a_cell_unless_some_are_named() {
        assert_eq!(ids(&[Coding::Gzip, Coding::Br, Coding::Zstd], &[]).len(), 9 + 12 + 22 + 3);
        let some = ids(&[Coding::Zstd, Coding::Gzip, Coding::Zstd], &["zstd=1-2", "zstd=19", "gzip=6"]);
        assert_eq!(some, ["zstd-1", "zstd-1~twin", "zstd-2", "zstd-19", "gzip-6", "gzip-6~twin"]);
    }

    #[test]
    fn lists_that_can_not_be_met_name_what_there_is() {
        for (list, text) in [
            ("zstd=0-3", "zstd has no level 0: ask for 1 to 22"),
            ("br=5-12", "br has no level 12: ask for 0 to 11"),
            ("gzip=6-2", "gzip=6-2 is empty: write the lower level first"),
            ("lz4=1", "there are gzip, deflate, br and zstd"),
            ("identity=1", "there are gzip, deflate, br and zstd"),
            ("zstd", "levels are given as CODING=A-B or CODING=A, such as zstd=1-9"),
            ("zstd=a-b", "levels are given as CODING=A-B or CODING=A, such as zstd=1-9"),
        ] {
            assert_eq!(list.parse::<LevelList>().expect_err(list), text);
        }
        let list = "br=1".parse().expect("a list");
        assert!(wanted(&[Coding::Gzip], &[list]).expect_err("not asked for").contains("add br there"));
    }
}
