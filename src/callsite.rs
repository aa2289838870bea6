//! What the bytes before a return address tell of the call.

/// The target of a relative near call (`e8`), given the five bytes before its return address.
///
/// Any five bytes may look like a call; whoever asks must know that a call ends there.
pub const fn relative_target(bytes: [u8; 5], return_address: u64) -> Option<u64> {
    if bytes[0] != 0xe8 {
        return None;
    }
    let offset = i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    Some(return_address.wrapping_add(offset as i64 as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_and_backward_calls_are_decoded() {
        assert_eq!(relative_target([0xe8, 0x10, 0, 0, 0], 0x1000), Some(0x1010));
        assert_eq!(relative_target([0xe8, 0xf0, 0xff, 0xff, 0xff], 0x1000), Some(0xff0));
    }

    #[test]
    fn other_instructions_are_not() {
        assert_eq!(relative_target([0, 0, 0xff, 0x50, 0x08], 0x1000), None);
    }
}
