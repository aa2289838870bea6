//! What addresses have written as `%20` and its like.

/// Replaces it; `None`: it is none, or a zero byte, which no name has inside.
pub fn decode(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |letter: &u8| char::from(*letter).to_digit(16);
                ((digit(high)? * 16 + digit(low)?) as u8, after)
            }
            (b'%', _) => return None,
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_so_is_replaced() {
        assert_eq!(decode("a%40b%C3%a9").as_deref(), Some("a@bé"));
        for text in ["%", "%4", "%4x", "%00", "%ff"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
