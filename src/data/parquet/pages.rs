//! What the pages of a Parquet file take when they are decoded, by their own headers and before any of them is.
//!
//! A small file can declare pages of gigabytes, and what its metadata say of them is not checked by whoever decodes them.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

/// What was found in the headers of all pages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    /// Bytes of all pages when they are decompressed.
    pub bytes: u64,
    /// Whether values are parts of the value before them, so that many of them may be long where the page is short.
    pub has_prefixes: bool,
}

impl Pages {
    pub fn read(file: &File, metadata: &ParquetMetaData) -> Result<Pages, ParquetError> {
        let mut pages = Pages::default();
        let mut reader = BufReader::new(file);
        for column in metadata.row_groups().iter().flat_map(|g| g.columns()) {
            pages.add_column(&mut reader, column)?;
        }
        Ok(pages)
    }

    fn add_column(
        &mut self,
        reader: &mut BufReader<&File>,
        column: &ColumnChunkMetaData,
    ) -> Result<(), ParquetError> {
        let first = column.dictionary_page_offset();
        let first = first.unwrap_or(column.data_page_offset());
        let place = |at: i64| u64::try_from(at).map_err(|_| damaged("a column begins before it"));
        let (mut at, length) = (place(first)?, place(column.compressed_size())?);
        let end = at.saturating_add(length);
        while at < end {
            reader.seek(SeekFrom::Start(at))?;
            let mut fields = Fields {
                reader: &mut *reader,
                num_read: 0,
            };
            let header = PageHeader::read(&mut fields)?;
            at = at.saturating_add(fields.num_read + self.add_page(&header)?);
        }
        Ok(())
    }

    /// Returns the bytes of the page in the file.
    fn add_page(&mut self, header: &PageHeader) -> Result<u64, ParquetError> {
        const DELTA_BYTE_ARRAY: i64 = 7;
        let size = |size: i64| u64::try_from(size).map_err(|_| damaged("a page has no size"));
        let (in_memory, in_file) = (size(header.uncompressed)?, size(header.compressed)?);
        // Each is an array element when it is decoded, and takes four bytes or more in the page.
        if header.num_in_dictionary > header.uncompressed {
            return Err(damaged("a dictionary has more values than bytes"));
        }
        self.bytes = self.bytes.saturating_add(in_memory);
        self.has_prefixes |= header.encoding == DELTA_BYTE_ARRAY;
        Ok(in_file)
    }
}

fn damaged(what: &str) -> ParquetError {
    ParquetError::General(format!("it is damaged: {what}"))
}

/// The entries of a page's header that tell its size.
#[derive(Debug, Default)]
struct PageHeader {
    uncompressed: i64,
    compressed: i64,
    num_in_dictionary: i64,
    encoding: i64,
}

impl PageHeader {
    /// Numbers of fields are those of `parquet.thrift` in the format's repository.
    fn read(fields: &mut Fields<impl BufRead + Seek>) -> Result<PageHeader, ParquetError> {
        let mut header = PageHeader {
            uncompressed: -1,
            compressed: -1,
            ..PageHeader::default()
        };
        fields.visit(0, 0, &mut |parent, field, value| match (parent, field) {
            (0, 2) => header.uncompressed = value,
            (0, 3) => header.compressed = value,
            (5, 2) | (8, 4) => header.encoding = value,
            (7, 1) => header.num_in_dictionary = value,
            _ => {}
        })?;
        Ok(header)
    }
}

/// Fields of a structure in Thrift's compact protocol, in which headers of pages are written.
struct Fields<'a, R> {
    reader: &'a mut R,
    num_read: u64,
}

impl<R: BufRead + Seek> Fields<'_, R> {
    /// Calls `visit` with the field that a structure is in (0 for the outermost), a field in it, and its whole number.
    fn visit(
        &mut self,
        parent: i64,
        depth: usize,
        visit: &mut dyn FnMut(i64, i64, i64),
    ) -> Result<(), ParquetError> {
        // A header has structures in it, and these have statistics.
        if depth > 3 {
            return Err(damaged("the header of a page does not end"));
        }
        let mut field = 0;
        loop {
            let byte = self.byte()?;
            field = match (byte, byte >> 4) {
                (0, _) => return Ok(()),
                (_, 0) => self.whole_number()?,
                (_, more) => field + i64::from(more),
            };
            match byte & 0x0f {
                // Truth values stand in the type.
                1 | 2 => {}
                3 => drop(self.byte()?),
                4..=6 => visit(parent, field, self.whole_number()?),
                7 => self.skip(8)?,
                8 => {
                    let length = self.unsigned()?;
                    self.skip(length)?;
                }
                12 => self.visit(field, depth + 1, visit)?,
                _ => return Err(damaged("the header of a page has a field of no known type")),
            }
        }
    }

    fn byte(&mut self) -> Result<u8, ParquetError> {
        let mut byte = [0];
        self.reader.read_exact(&mut byte)?;
        self.num_read += 1;
        Ok(byte[0])
    }

    fn skip(&mut self, length: u64) -> Result<(), ParquetError> {
        let forward = i64::try_from(length).map_err(|_| damaged("a text in it has no end"))?;
        self.reader.seek_relative(forward)?;
        self.num_read = self.num_read.saturating_add(length);
        Ok(())
    }

    /// Seven bits in each byte, the lowest first.
    fn unsigned(&mut self) -> Result<u64, ParquetError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged("a number in it does not end"))
    }

    /// The sign stands in the lowest bit.
    fn whole_number(&mut self) -> Result<i64, ParquetError> {
        let number = self.unsigned()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}
