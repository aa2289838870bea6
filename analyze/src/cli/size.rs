//! Sizes as people write them.

/// A number of bytes, with k, M, G or T for powers of 1024.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift))
}
