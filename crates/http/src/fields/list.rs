//! The fields of one message, in one piece of memory that is used again and again.

use std::borrow::Cow;

use super::FIELD_OVERHEAD_BYTES;

/// A list of fields up to a size; what goes beyond is dropped and remembered as [`Fields::too_large`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    bytes: Vec<u8>,
    /// For each field, where its name and its value end.
    ends: Vec<(u32, u32)>,
    size: usize,
    most_bytes: usize,
}

impl Fields {
    /// An empty list that takes up to `most_bytes`, counted as RFC 9113, 6.5.2 does (32 bytes more for each field).
    #[must_use]
    pub const fn new(most_bytes: usize) -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), size: 0, most_bytes }
    }

    /// Empties the list; keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.size = 0;
    }

    /// Whether fields were dropped because the list would have become too large.
    #[must_use]
    pub const fn too_large(&self) -> bool {
        self.size > self.most_bytes
    }

    /// Names and values in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut from = 0;
        self.ends.iter().map(move |&(name, value)| {
            let field = (&self.bytes[from..name as usize], &self.bytes[name as usize..value as usize]);
            from = value as usize;
            field
        })
    }

    /// The value of the first field called `name` (in lower case, as they travel).
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter().find(|field| field.0 == name).map(|field| field.1)
    }

    /// The value of `name` (in lower case); of several such fields the values joined by commas (RFC 9110, section 5.3).
    #[must_use]
    pub fn joined(&self, name: &[u8]) -> Option<Cow<'_, [u8]>> {
        super::joined(self.iter().filter(|field| field.0 == name).map(|field| field.1))
    }

    /// Appends a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        let mut draft = self.draft();
        draft.bytes().extend_from_slice(name);
        draft.end_name();
        draft.bytes().extend_from_slice(value);
        draft.keep();
    }

    /// Appends a field whose name may have capitals, which are made small.
    pub fn push_lower(&mut self, name: &[u8], value: &[u8]) {
        let mut draft = self.draft();
        draft.bytes().extend(name.iter().map(u8::to_ascii_lowercase));
        draft.end_name();
        draft.bytes().extend_from_slice(value);
        draft.keep();
    }

    /// Begins a field whose name and value are appended in place.
    pub(crate) fn draft(&mut self) -> Draft<'_> {
        let from = self.bytes.len();
        Draft { fields: self, from, name_end: from }
    }
}

/// A field in the making.
pub(crate) struct Draft<'a> {
    fields: &'a mut Fields,
    from: usize,
    name_end: usize,
}

impl Draft<'_> {
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.fields.bytes
    }

    pub fn end_name(&mut self) {
        self.name_end = self.fields.bytes.len();
    }

    pub fn name(&self) -> &[u8] {
        &self.fields.bytes[self.from..self.name_end]
    }

    pub fn value(&self) -> &[u8] {
        &self.fields.bytes[self.name_end..]
    }

    pub fn keep(self) {
        let Self { fields, from, name_end } = self;
        let end = fields.bytes.len();
        fields.size = fields.size.saturating_add(end - from + FIELD_OVERHEAD_BYTES);
        if fields.size > fields.most_bytes {
            fields.bytes.truncate(from);
        } else {
            fields.ends.push((name_end as u32, end as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn fields_come_back_in_order_until_the_list_is_too_large() {
        let mut fields = Fields::new(98);
        fields.push(b"a", b"1");
        fields.push(b"", b"");
        assert!(!fields.too_large());
        fields.push(b"b", b"");
        assert_eq!(fields.get(b"a"), Some(&b"1"[..]));
        assert!(fields.too_large());
        assert_eq!(fields.iter().collect::<Vec<_>>(), [(&b"a"[..], &b"1"[..]), (b"", b"")]);
        fields.clear();
        assert_eq!((fields.too_large(), fields.get(b"a")), (false, None));
    }
}
