//! Rows as ClickHouse's RowBinary has them: columns one after the other, numbers with their lowest byte first.

/// Rows that are written.
#[derive(Default)]
pub struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn i64(&mut self, number: i64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub fn text(&mut self, bytes: &[u8]) {
        let mut length = bytes.len();
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
        self.bytes.extend(bytes);
    }
}

/// Rows that are read. `None`: they end before their time.
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn of(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    pub fn i128(&mut self) -> Option<i128> {
        self.take().map(i128::from_le_bytes)
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let (mut length, mut shift) = (0u64, 0);
        loop {
            let byte = self.u8()?;
            length |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (first, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(first)
    }

    pub fn text(&mut self) -> Option<String> {
        self.bytes().and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_from_their_bytes() {
        let long = vec![7; 300];
        let mut written = Writer::default();
        written.u32(2);
        written.u64(u64::MAX);
        written.i64(-3);
        written.bytes.extend(i128::MIN.to_le_bytes());
        written.text(&long);
        written.text("ä".as_bytes());
        let mut read = Reader::of(&written.bytes);
        assert_eq!((read.u32(), read.u64()), (Some(2), Some(u64::MAX)));
        assert_eq!((read.i64(), read.i128(), read.bytes()), (Some(-3), Some(i128::MIN), Some(&long[..])));
        assert_eq!((read.text(), read.is_at_end(), read.bytes()), (Some("ä".to_owned()), true, None));
        assert_eq!(Reader::of(&[0xff; 20]).bytes(), None);
    }
}
