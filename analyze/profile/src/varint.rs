//! Whole numbers in as few bytes as they need: seven bits of each byte, the lowest first, the highest bit says that more follow.

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a number that may be less than 0: small ones of either sign take few bytes.
pub fn put_signed(bytes: &mut Vec<u8>, number: i128) {
    put(bytes, ((number << 1) ^ (number >> 127)) as u128);
}

/// Takes a number off the front. `None` if there is none that fits.
#[inline]
pub fn get(rest: &mut &[u8]) -> Option<u128> {
    // Most numbers take a few bytes, and fit a register.
    let mut number = 0u64;
    for (at, &byte) in rest.iter().take(9).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            *rest = &rest[at + 1..];
            return Some(number.into());
        }
    }
    get_long(rest)
}

/// The same of one that may be less than 0.
#[inline]
pub fn get_signed(rest: &mut &[u8]) -> Option<i128> {
    let number = get(rest)?;
    Some((number >> 1) as i128 ^ -((number & 1) as i128))
}

#[cold]
fn get_long(rest: &mut &[u8]) -> Option<u128> {
    let mut number = 0u128;
    for shift in (0..128).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        let part = u128::from(byte & 0x7f);
        if part << shift >> shift != part {
            return None;
        }
        number |= part << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers in prop::collection::vec((any::<i128>(), 0u32..128), 0..20)) {
            let numbers: Vec<i128> = numbers.into_iter().map(|(number, shift)| number >> shift).collect();
            let mut bytes = Vec::new();
            for number in &numbers {
                put_signed(&mut bytes, *number);
                put(&mut bytes, *number as u128);
            }
            let mut rest = &bytes[..];
            for number in &numbers {
                prop_assert_eq!(get_signed(&mut rest), Some(*number));
                prop_assert_eq!(get(&mut rest), Some(*number as u128));
            }
            prop_assert!(rest.is_empty());
        }
    }

    #[test]
    fn what_ends_too_soon_or_is_too_large_is_none() {
        assert_eq!(get(&mut &[0x80][..]), None);
        assert_eq!(get(&mut &[0xff; 18][..]), None);
        assert_eq!(get(&mut &[0xff; 19][..]), None);
    }
}
