//! Rows as ClickHouse's Native format has them: column after column, so that those of nothing but zeros can be left out.

/// A block of rows.
#[derive(Default)]
pub struct Block {
    bytes: Vec<u8>,
    names: Vec<String>,
}

impl Block {
    /// Of so many columns of so many rows, which follow.
    pub fn of(columns: usize, rows: usize) -> Self {
        let mut block = Self { bytes: Vec::with_capacity(64 * columns + 8 * columns * rows), names: Vec::new() };
        block.length(columns);
        block.length(rows);
        block
    }

    /// The next column: numbers without signs.
    pub fn u64(&mut self, name: &str, numbers: &[u64]) {
        self.begin(name, "UInt64");
        numbers.iter().for_each(|number| self.bytes.extend(number.to_le_bytes()));
    }

    /// Numbers with signs.
    pub fn i64(&mut self, name: &str, numbers: &[i64]) {
        self.begin(name, "Int64");
        numbers.iter().for_each(|number| self.bytes.extend(number.to_le_bytes()));
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The names of its columns.
    pub fn names(&self) -> String {
        self.names.join(", ")
    }

    fn begin(&mut self, name: &str, kind: &str) {
        self.names.push(name.to_owned());
        for text in [name, kind] {
            self.length(text.len());
            self.bytes.extend(text.as_bytes());
        }
    }

    fn length(&mut self, mut length: usize) {
        while length >= 0x80 {
            self.bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        self.bytes.push(length as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_its_columns_one_after_the_other() {
        let mut block = Block::of(2, 1);
        block.u64("path", &[258]);
        block.i64("own", &[-1]);
        assert_eq!(block.names(), "path, own");
        let expected = [&[2, 1][..], b"\x04path\x06UInt64", &[2, 1, 0, 0, 0, 0, 0, 0], b"\x03own\x05Int64", &[255; 8]];
        assert_eq!(block.bytes(), expected.concat());
    }
}
