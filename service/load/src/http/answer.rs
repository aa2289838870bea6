//! An answer on its way: where its end is, and what its head says. Its body is not kept.

/// Most bytes of a head.
const LONGEST_HEAD: usize = 1 << 16;

/// Most headers.
const MOST_HEADERS: usize = 96;

/// An answer of which some may have come.
#[derive(Debug, Default)]
pub struct Answer {
    state: State,
    /// What has come of an incomplete head.
    head: Vec<u8>,
    status: u16,
    keeps_alive: bool,
    /// Whether any byte has come.
    pub has_begun: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Head,
    /// So many bytes of body are missing.
    Body(u64),
    /// The length of a chunk, so far.
    Size(u64),
    /// What follows a chunk's length up to the line's end.
    Extension(u64),
    /// So many bytes of a chunk are missing, with the line's end after it.
    Chunk(u64),
    /// Lines after the last chunk; whether this one has anything.
    Trailer(bool),
    /// It ends with the connection.
    UntilClosed,
}

/// How far an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to come.
    More,
    /// It is complete; `rest` bytes came beyond it.
    Done {
        /// Its status.
        status: u16,
        /// Whether the connection can be used again.
        keeps_alive: bool,
        /// Bytes that are not its own.
        rest: usize,
    },
}

/// What has come is no HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Answer {
    /// Takes what has come; to a `HEAD` there is no body.
    pub fn feed(&mut self, bytes: &[u8], is_head: bool) -> Result<Progress, Malformed> {
        self.has_begun |= !bytes.is_empty();
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match &mut self.state {
                State::Head => {
                    at += match self.take_head(rest, is_head)? {
                        Some(taken) => taken,
                        None => return Ok(Progress::More),
                    };
                    if matches!(self.state, State::Body(0)) {
                        return Ok(self.done(bytes.len() - at));
                    }
                }
                State::Body(left) => {
                    let taken = (rest.len() as u64).min(*left);
                    (*left, at) = (*left - taken, at + taken as usize);
                    if *left == 0 {
                        return Ok(self.done(bytes.len() - at));
                    }
                }
                State::Size(size) => {
                    let digit = char::from(rest[0]).to_digit(16);
                    self.state = match (digit, rest[0]) {
                        (Some(digit), _) => {
                            let size = size.checked_mul(16).and_then(|size| size.checked_add(digit.into()));
                            State::Size(size.filter(|size| *size < 1 << 48).ok_or(Malformed)?)
                        }
                        (None, b'\r' | b';' | b' ' | b'\t') => State::Extension(*size),
                        (None, b'\n') => after_size(*size),
                        _ => return Err(Malformed),
                    };
                    at += 1;
                }
                State::Extension(size) => match rest.iter().position(|byte| *byte == b'\n') {
                    Some(end) => (self.state, at) = (after_size(*size), at + end + 1),
                    None => at = bytes.len(),
                },
                State::Chunk(left) => {
                    let taken = (rest.len() as u64).min(*left);
                    (*left, at) = (*left - taken, at + taken as usize);
                    if *left == 0 {
                        self.state = State::Size(0);
                    }
                }
                State::Trailer(has_any) => {
                    match rest[0] {
                        b'\n' if !*has_any => return Ok(self.done(bytes.len() - at - 1)),
                        b'\n' => *has_any = false,
                        b'\r' => {}
                        _ => *has_any = true,
                    }
                    at += 1;
                }
                State::UntilClosed => at = bytes.len(),
            }
        }
        Ok(Progress::More)
    }

    /// The connection was closed: that may be the end.
    pub fn close(&mut self) -> Option<Progress> {
        matches!(self.state, State::UntilClosed).then(|| self.done(0))
    }

    fn done(&mut self, rest: usize) -> Progress {
        let done = Progress::Done { status: self.status, keeps_alive: self.keeps_alive && rest == 0, rest };
        self.state = State::Head;
        self.head.clear();
        self.has_begun = false;
        done
    }

    /// Takes a head, or the last part of one; `None`: there is more of it to come.
    fn take_head(&mut self, bytes: &[u8], is_head: bool) -> Result<Option<usize>, Malformed> {
        let before = self.head.len();
        if before > 0 {
            self.head.extend_from_slice(bytes);
        }
        let held = std::mem::take(&mut self.head);
        let whole = if before > 0 { &held } else { bytes };
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        match parsed.parse(whole) {
            Ok(httparse::Status::Complete(length)) => {
                self.understand(&parsed, is_head)?;
                Ok(Some(length - before))
            }
            Ok(httparse::Status::Partial) if whole.len() < LONGEST_HEAD => {
                self.head = if before > 0 { held } else { bytes.to_vec() };
                Ok(None)
            }
            _ => Err(Malformed),
        }
    }

    fn understand(&mut self, head: &httparse::Response<'_, '_>, is_head: bool) -> Result<(), Malformed> {
        self.status = head.code.ok_or(Malformed)?;
        self.keeps_alive = head.version == Some(1);
        let (mut length, mut is_chunked) = (None, false);
        for header in head.headers.iter() {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            let has = |word: &[u8]| {
                let mut words = header.value.split(|byte| *byte == b',');
                words.any(|value| value.trim_ascii().eq_ignore_ascii_case(word))
            };
            if is("content-length") {
                let text = std::str::from_utf8(header.value).map_err(|_| Malformed)?;
                length = Some(text.trim().parse::<u64>().map_err(|_| Malformed)?);
            } else if is("transfer-encoding") {
                is_chunked |= has(b"chunked");
            } else if is("connection") {
                self.keeps_alive = (self.keeps_alive || has(b"keep-alive")) && !has(b"close");
            }
        }
        self.state = match (self.status, length) {
            // Another one follows.
            (100..=199, _) => State::Head,
            (204 | 304, _) => State::Body(0),
            _ if is_head => State::Body(0),
            _ if is_chunked => State::Size(0),
            (_, Some(length)) => State::Body(length),
            (_, None) => State::UntilClosed,
        };
        self.keeps_alive &= !matches!(self.state, State::UntilClosed);
        Ok(())
    }
}

fn after_size(size: u64) -> State {
    match size {
        0 => State::Trailer(false),
        _ => State::Chunk(size + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer, whatever pieces it comes in.
    fn fed(text: &str, is_head: bool) -> Result<Progress, Malformed> {
        let bytes = text.as_bytes();
        let whole = Answer::default().feed(bytes, is_head);
        for size in 1..bytes.len() {
            let mut answer = Answer::default();
            let mut progress = Ok(Progress::More);
            let mut taken = 0;
            for piece in bytes.chunks(size) {
                progress = answer.feed(piece, is_head);
                taken += piece.len();
                if progress != Ok(Progress::More) {
                    break;
                }
            }
            // What came beyond it is in a later piece.
            let same = match (progress, whole) {
                (Ok(Progress::Done { rest, .. }), Ok(Progress::Done { rest: all, .. })) => {
                    rest + bytes.len() - taken == all
                }
                (progress, whole) => progress == whole,
            };
            assert!(same, "{text:?} in pieces of {size}: {progress:?}, not {whole:?}");
        }
        whole
    }

    fn done(status: u16, keeps_alive: bool, rest: usize) -> Result<Progress, Malformed> {
        Ok(Progress::Done { status, keeps_alive, rest })
    }

    #[test]
    fn an_answer_ends_where_its_head_says() {
        assert_eq!(fed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", false), done(200, true, 0));
        assert_eq!(fed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", false), done(200, false, 1));
        assert_eq!(fed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false), Ok(Progress::More));
        assert_eq!(fed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", true), done(200, true, 0));
        assert_eq!(fed("HTTP/1.1 204 No\r\n\r\n", false), done(204, true, 0));
        assert_eq!(
            fed("HTTP/1.1 404 No\r\ncontent-length: 0\r\nConnection: Close\r\n\r\n", false),
            done(404, false, 0)
        );
        assert_eq!(fed("HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false), done(200, false, 0));
        assert_eq!(
            fed("HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 201 OK\r\ncontent-length: 0\r\n\r\n", false),
            done(201, true, 0)
        );
    }

    #[test]
    fn an_answer_in_chunks_ends_with_the_last() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(fed(&format!("{head}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n"), false), done(200, true, 0));
        assert_eq!(fed(&format!("{head}0\r\nDigest: a\r\nB: c\r\n\r\n"), false), done(200, true, 0));
        assert_eq!(fed(&format!("{head}3\r\nabc\r\n0\r\n"), false), Ok(Progress::More));
        assert_eq!(fed(&format!("{head}x\r\n"), false), Err(Malformed));
        assert_eq!(fed(&format!("{head}fffffffffffffffff\r\n"), false), Err(Malformed));
    }

    #[test]
    fn an_answer_without_a_length_ends_with_the_connection() {
        let mut answer = Answer::default();
        assert_eq!(answer.feed(b"HTTP/1.1 200 OK\r\n\r\nabc", false), Ok(Progress::More));
        assert_eq!(answer.close(), Some(Progress::Done { status: 200, keeps_alive: false, rest: 0 }));
        assert_eq!(Answer::default().close(), None);
    }

    #[test]
    fn what_is_no_http_is_told() {
        for text in ["SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n", "\0\0\0\0"] {
            assert_eq!(Answer::default().feed(text.as_bytes(), false), Err(Malformed), "{text}");
        }
        let long = format!("HTTP/1.1 200 OK\r\na: {}", "b".repeat(LONGEST_HEAD));
        assert_eq!(Answer::default().feed(long.as_bytes(), false), Err(Malformed));
    }
}
