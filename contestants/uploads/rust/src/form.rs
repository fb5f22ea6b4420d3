//! The framing of a multipart form with one part, the file.

use std::hash::{BuildHasher, Hasher, RandomState};

/// What stands before and after the file's bytes.
#[derive(Debug)]
pub struct Form {
    pub content_type: String,
    pub head: String,
    pub tail: String,
}

impl Form {
    /// A form whose part `file` bears `name`, with a boundary of its own.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let random = || RandomState::new().build_hasher().finish();
        let boundary = format!("----------------{:016x}{:016x}", random(), random());
        // As the living standard of HTML has it.
        let name = name.replace('\n', "%0A").replace('\r', "%0D").replace('"', "%22");
        Self {
            content_type: format!("multipart/form-data; boundary={boundary}"),
            head: format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
                 Content-Type: application/octet-stream\r\n\r\n"
            ),
            tail: format!("\r\n--{boundary}--\r\n"),
        }
    }

    /// Length in bytes of the body that holds a file of `file_bytes` bytes.
    #[must_use]
    pub fn body_bytes(&self, file_bytes: u64) -> u64 {
        self.head.len() as u64 + file_bytes + self.tail.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn two_forms_have_two_boundaries_of_one_length() {
        let (one, other) = (Form::new("a"), Form::new("a"));
        assert_ne!(one.content_type, other.content_type);
        assert_eq!(one.body_bytes(5), other.body_bytes(5));
    }

    #[test]
    fn a_file_name_cannot_end_its_header_field() {
        let form = Form::new("a\"\r\nb");
        assert!(form.head.contains("filename=\"a%22%0D%0Ab\"\r\n"), "{}", form.head);
    }
}
