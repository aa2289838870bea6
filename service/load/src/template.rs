//! Text of which some changes from request to request.

use std::io::Write;

/// Text with places that are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    /// The request's number.
    Sequence,
    /// A number between these.
    Random(u64, u64),
    /// One of these.
    Choice(Vec<Vec<u8>>),
}

impl Template {
    /// Bytes that stay as they are.
    pub fn literal(bytes: Vec<u8>) -> Self {
        Self { pieces: vec![Piece::Text(bytes)] }
    }

    /// Text with `{seq}`, `{random:LOW-HIGH}` and `{choice:A|B}`. Other braces stay as they are; the first of them is told, too.
    pub fn parse(text: &str) -> (Self, Option<String>) {
        let (mut pieces, mut other) = (Vec::new(), None);
        let mut plain = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            plain.extend_from_slice(&rest.as_bytes()[..open]);
            let inside = rest[open + 1..].find('}').map(|end| &rest[open + 1..open + 1 + end]);
            if let Some((piece, inside)) = inside.and_then(|inside| Some((Piece::parse(inside)?, inside))) {
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(piece);
                rest = &rest[open + inside.len() + 2..];
            } else {
                other.get_or_insert_with(|| inside.unwrap_or(&rest[open + 1..]).to_owned());
                plain.push(b'{');
                rest = &rest[open + 1..];
            }
        }
        plain.extend_from_slice(rest.as_bytes());
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        (Self { pieces }, other)
    }

    /// Whether it is the same each time: these bytes.
    pub fn fixed(&self) -> Option<&[u8]> {
        match &self.pieces[..] {
            [] => Some(&[]),
            [Piece::Text(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// Writes it as it is for request `number`.
    pub fn fill(&self, number: u64, random: &mut fastrand::Rng, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            // Writing to memory does not fail.
            let _ = match piece {
                Piece::Text(bytes) => out.write_all(bytes),
                Piece::Sequence => write!(out, "{number}"),
                Piece::Random(low, high) => write!(out, "{}", random.u64(low..=high)),
                Piece::Choice(all) => out.write_all(&all[random.usize(..all.len())]),
            };
        }
    }
}

impl Piece {
    fn parse(inside: &str) -> Option<Self> {
        if inside == "seq" {
            return Some(Self::Sequence);
        }
        let (name, values) = inside.split_once(':')?;
        match name {
            "random" => {
                let (low, high) = values.split_once('-')?;
                let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
                (low <= high).then_some(Self::Random(low, high))
            }
            "choice" => Some(Self::Choice(values.split('|').map(|value| value.as_bytes().to_vec()).collect())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, number: u64) -> String {
        let mut out = Vec::new();
        Template::parse(text).0.fill(number, &mut fastrand::Rng::with_seed(number), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn places_are_filled_in() {
        assert_eq!(filled("/item/{seq}?a={seq}", 41), "/item/41?a=41");
        let mut seen = std::collections::BTreeSet::new();
        (0..200).for_each(|number| _ = seen.insert(filled("{random:7-9}{choice:a|b}", number)));
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["7a", "7b", "8a", "8b", "9a", "9b"]);
    }

    #[test]
    fn what_is_no_place_stays_and_is_told() {
        for (text, other) in [
            ("{\"a\": {\"b\": 1}}", Some("\"a\": {\"b\": 1")),
            ("/a{random:9-1}", Some("random:9-1")),
            ("{sequence}", Some("sequence")),
            ("a{b", Some("b")),
            ("{}", Some("")),
            ("a}b", None),
        ] {
            let (template, found) = Template::parse(text);
            assert_eq!((template.fixed(), found.as_deref()), (Some(text.as_bytes()), other));
        }
        assert_eq!(filled("{\"id\": {seq}}", 3), "{\"id\": 3}");
    }
}
