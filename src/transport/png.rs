//! Encodes pixels as PNG (W3C, third edition), the format that link preview services accept.

use std::io::{self, Write};

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// PNG header fields after the image size: 8 bits per colour channel, RGB, default compression and
/// filter methods, not interlaced.
const FORM: [u8; 5] = [8, 2, 0, 0, 0];

/// PNG filter type Up, which stores each byte as the difference from the byte above. The filter
/// compresses board images well, because their rows repeat.
const UP: u8 = 2;

/// Encodes an image of this width and height. The pixels are RGB triples, row by row from the top.
pub(super) fn png((width, height): (u16, u16), pixels: &[u8]) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(13);
    head.extend(u32::from(width).to_be_bytes());
    head.extend(u32::from(height).to_be_bytes());
    head.extend(FORM);
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row_bytes = 3 * usize::from(width);
    let mut above = vec![0; row_bytes];
    let mut row = Vec::with_capacity(1 + row_bytes);
    for pixels in pixels.chunks_exact(row_bytes) {
        row.clear();
        row.push(UP);
        let differences = pixels.iter().zip(&above);
        row.extend(differences.map(|(here, above)| here.wrapping_sub(*above)));
        packed.write_all(&row)?;
        above.copy_from_slice(pixels);
    }
    let mut file = SIGNATURE.to_vec();
    add_chunk(&mut file, *b"IHDR", &head)?;
    add_chunk(&mut file, *b"IDAT", &packed.finish()?)?;
    add_chunk(&mut file, *b"IEND", &[])?;
    Ok(file)
}

fn add_chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) -> io::Result<()> {
    let bytes = u32::try_from(data.len()).map_err(io::Error::other)?;
    let mut crc = Crc::new();
    crc.update(&kind);
    crc.update(data);
    file.extend(bytes.to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(crc.sum().to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    #[test]
    fn encoded_png_decodes_to_its_pixels() {
        let pixels: Vec<u8> = (0..2 * 3 * 3).collect();
        let file = png((2, 3), &pixels).expect("memory takes everything");
        assert_eq!(file[..8], SIGNATURE);
        let (mut rest, mut kinds, mut rows) = (&file[8..], Vec::new(), Vec::new());
        while let [a, b, c, d, after @ ..] = rest {
            let bytes = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
            let (kind, data) = after[..4 + bytes].split_at(4);
            let mut crc = Crc::new();
            crc.update(&after[..4 + bytes]);
            let sum = &after[4 + bytes..8 + bytes];
            assert_eq!(crc.sum().to_be_bytes(), sum, "{kind:?}");
            kinds.push(kind);
            if kind == b"IDAT" {
                let read = ZlibDecoder::new(data).read_to_end(&mut rows);
                read.expect("it was packed");
            }
            rest = &after[8 + bytes..];
        }
        assert_eq!(kinds, [b"IHDR", b"IDAT", b"IEND"]);
        let first: Vec<u8> = [2].into_iter().chain(0..6).collect();
        assert_eq!(rows[..7], first);
        assert_eq!(rows[7..], [2, 6, 6, 6, 6, 6, 6, 2, 6, 6, 6, 6, 6, 6]);
    }
}
