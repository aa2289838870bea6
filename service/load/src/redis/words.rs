//! The words of a command, as people write it: by the rules of redis-cli.

/// Words between spaces. In "double quotes" `\n`, `\r`, `\t`, `\b`, `\a`, `\xHH` and `\` before anything else mean what they do in
/// C; in 'single quotes' only `\'` does.
pub fn split(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut words = Vec::new();
    let mut rest = text.as_bytes();
    loop {
        rest = rest.trim_ascii_start();
        let Some((&first, after)) = rest.split_first() else { return Ok(words) };
        let mut word = Vec::new();
        rest = match first {
            b'"' | b'\'' => quoted(first, after, &mut word)?,
            _ => {
                let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                word.extend_from_slice(&rest[..end]);
                &rest[end..]
            }
        };
        words.push(word);
    }
}

/// Takes what stands before the closing quote; what comes after that.
fn quoted<'a>(quote: u8, mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], String> {
    loop {
        let (byte, after) = match (quote, rest) {
            (_, []) => return Err(format!("a closing {} is missing", char::from(quote))),
            (_, [first, after @ ..]) if *first == quote => match after.first() {
                None => return Ok(after),
                Some(next) if next.is_ascii_whitespace() => return Ok(after),
                Some(_) => return Err(format!("after a closing {} a space is missing", char::from(quote))),
            },
            (b'"', [b'\\', b'x', high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |letter: &u8| char::from(*letter).to_digit(16).unwrap_or(0) as u8;
                (digit(high) * 16 + digit(low), after)
            }
            (b'"', [b'\\', letter, after @ ..]) => (escaped(*letter), after),
            (b'\'', [b'\\', b'\'', after @ ..]) => (b'\'', after),
            (_, [byte, after @ ..]) => (*byte, after),
        };
        word.push(byte);
        rest = after;
    }
}

fn escaped(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_the_client_of_redis_sends() {
        for (text, expected) in [
            ("GET a", &[&b"GET"[..], b"a"][..]),
            (" SET  a\t'b c' ", &[b"SET", b"a", b"b c"]),
            (r#"SET a "b\n\x00\xff\"\\\q""#, &[b"SET", b"a", b"b\n\0\xff\"\\q"]),
            (r"SET a 'b\n\''", &[b"SET", b"a", br"b\n'"]),
            (r#"SET a """#, &[b"SET", b"a", b""]),
            (r#"SET a{"b":1}"#, &[b"SET", br#"a{"b":1}"#]),
            ("", &[]),
        ] {
            assert_eq!(split(text).unwrap(), expected, "{text}");
        }
        for (text, why) in [
            ("SET a \"b", "a closing \" is missing"),
            ("SET a 'b\\'", "a closing ' is missing"),
            ("SET 'a'b", "after a closing ' a space is missing"),
        ] {
            assert_eq!(split(text).unwrap_err(), why, "{text}");
        }
    }
}
