//! Types that are a field, or an element of an array.

use bytes::Bytes;

use super::{DecodeError, EncodeError, Reader, Writer};
use crate::limits::ARRAY_PREALLOC_MAX;
use crate::types::{Records, Str, Uuid};

/// A value with an encoding. `version` and `flexible` are those of the message around it; versions are
/// checked once, by [`crate::messages::Message`].
pub trait Wire: Sized {
    /// Fewest bytes it takes in any version.
    const BYTES_MIN: usize;
    /// Reads one.
    fn read(r: &mut Reader, version: i16, flexible: bool) -> Result<Self, DecodeError>;
    /// Appends it.
    fn write(&self, w: &mut Writer, version: i16, flexible: bool) -> Result<(), EncodeError>;
}

/// A value whose length has room for null.
pub trait Nullable: Wire {
    /// Reads one, or null.
    fn read_nullable(r: &mut Reader, version: i16, flexible: bool) -> Result<Option<Self>, DecodeError>;
    /// Appends null.
    fn write_null(w: &mut Writer, flexible: bool) -> Result<(), EncodeError>;
}

/// Reads a field that may be null in some versions, `nullable` in this one.
pub fn read_opt<T: Nullable>(
    r: &mut Reader,
    version: i16,
    flexible: bool,
    nullable: bool,
) -> Result<Option<T>, DecodeError> {
    match T::read_nullable(r, version, flexible)? {
        None if !nullable => Err(r.null()),
        value => Ok(value),
    }
}

/// Writes a field that may be null in some versions, `nullable` in this one.
pub fn write_opt<T: Nullable>(
    value: &Option<T>,
    w: &mut Writer,
    version: i16,
    flexible: bool,
    nullable: bool,
    field: &'static str,
) -> Result<(), EncodeError> {
    match value {
        Some(value) => value.write(w, version, flexible),
        None if nullable => T::write_null(w, flexible),
        None => Err(EncodeError::Null { field, version }),
    }
}

/// Reads a struct behind a byte that tells whether it is there: negative is null.
pub fn read_opt_struct<T: Wire>(
    r: &mut Reader,
    version: i16,
    flexible: bool,
) -> Result<Option<T>, DecodeError> {
    if r.i8()? < 0 { Ok(None) } else { T::read(r, version, flexible).map(Some) }
}

/// Writes a struct behind a byte that tells whether it is there.
pub fn write_opt_struct<T: Wire>(
    value: &Option<T>,
    w: &mut Writer,
    version: i16,
    flexible: bool,
) -> Result<(), EncodeError> {
    w.put_i8(if value.is_some() { 1 } else { -1 });
    value.as_ref().map_or(Ok(()), |value| value.write(w, version, flexible))
}

/// A field this version doesn't have must be at its default.
pub fn absent(is_default: bool, field: &'static str, version: i16) -> Result<(), EncodeError> {
    if is_default { Ok(()) } else { Err(EncodeError::NotInVersion { field, version }) }
}

macro_rules! fixed {
    ($($ty:ty),*) => { $(
        impl Wire for $ty {
            const BYTES_MIN: usize = size_of::<$ty>();
            fn read(r: &mut Reader, _: i16, _: bool) -> Result<Self, DecodeError> {
                r.array().map(<$ty>::from_be_bytes)
            }
            fn write(&self, w: &mut Writer, _: i16, _: bool) -> Result<(), EncodeError> {
                w.put_slice(&self.to_be_bytes());
                Ok(())
            }
        }
    )* };
}
fixed!(i8, i16, i32, i64, u16, u32, f64);

impl Wire for bool {
    const BYTES_MIN: usize = 1;
    fn read(r: &mut Reader, _: i16, _: bool) -> Result<Self, DecodeError> {
        Ok(r.i8()? != 0)
    }
    fn write(&self, w: &mut Writer, _: i16, _: bool) -> Result<(), EncodeError> {
        w.put_i8(i8::from(*self));
        Ok(())
    }
}

impl Wire for Uuid {
    const BYTES_MIN: usize = 16;
    fn read(r: &mut Reader, _: i16, _: bool) -> Result<Self, DecodeError> {
        r.array().map(Uuid)
    }
    fn write(&self, w: &mut Writer, _: i16, _: bool) -> Result<(), EncodeError> {
        w.put_slice(&self.0);
        Ok(())
    }
}

impl Wire for Str {
    const BYTES_MIN: usize = 1;
    fn read(r: &mut Reader, _: i16, flexible: bool) -> Result<Self, DecodeError> {
        r.opt_string(flexible)?.ok_or_else(|| r.null())
    }
    fn write(&self, w: &mut Writer, _: i16, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_string(Some(self), flexible)
    }
}

impl Nullable for Str {
    fn read_nullable(r: &mut Reader, _: i16, flexible: bool) -> Result<Option<Self>, DecodeError> {
        r.opt_string(flexible)
    }
    fn write_null(w: &mut Writer, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_string(None, flexible)
    }
}

impl Wire for Bytes {
    const BYTES_MIN: usize = 1;
    fn read(r: &mut Reader, _: i16, flexible: bool) -> Result<Self, DecodeError> {
        r.opt_bytes(flexible)?.ok_or_else(|| r.null())
    }
    fn write(&self, w: &mut Writer, _: i16, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(Some(self.len()), flexible)?;
        w.put_shared(self.clone());
        Ok(())
    }
}

impl Nullable for Bytes {
    fn read_nullable(r: &mut Reader, _: i16, flexible: bool) -> Result<Option<Self>, DecodeError> {
        r.opt_bytes(flexible)
    }
    fn write_null(w: &mut Writer, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(None, flexible)
    }
}

impl Wire for Records {
    const BYTES_MIN: usize = 1;
    fn read(r: &mut Reader, version: i16, flexible: bool) -> Result<Self, DecodeError> {
        Bytes::read(r, version, flexible).map(Records::from)
    }
    fn write(&self, w: &mut Writer, _: i16, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(Some(self.len()), flexible)?;
        self.pieces().iter().for_each(|piece| w.put_shared(piece.clone()));
        Ok(())
    }
}

impl Nullable for Records {
    fn read_nullable(r: &mut Reader, _: i16, flexible: bool) -> Result<Option<Self>, DecodeError> {
        Ok(r.opt_bytes(flexible)?.map(Records::from))
    }
    fn write_null(w: &mut Writer, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(None, flexible)
    }
}

impl<T: Wire> Wire for Vec<T> {
    const BYTES_MIN: usize = 1;
    fn read(r: &mut Reader, version: i16, flexible: bool) -> Result<Self, DecodeError> {
        Self::read_nullable(r, version, flexible)?.ok_or_else(|| r.null())
    }
    fn write(&self, w: &mut Writer, version: i16, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(Some(self.len()), flexible)?;
        self.iter().try_for_each(|element| element.write(w, version, flexible))
    }
}

impl<T: Wire> Nullable for Vec<T> {
    fn read_nullable(r: &mut Reader, version: i16, flexible: bool) -> Result<Option<Self>, DecodeError> {
        let Some(len) = r.opt_array_len(flexible, T::BYTES_MIN)? else { return Ok(None) };
        r.count_array(len * size_of::<T>())?;
        let mut out = Vec::with_capacity(len.min(ARRAY_PREALLOC_MAX));
        for _ in 0..len {
            out.push(T::read(r, version, flexible)?);
        }
        Ok(Some(out))
    }
    fn write_null(w: &mut Writer, flexible: bool) -> Result<(), EncodeError> {
        w.put_opt_len(None, flexible)
    }
}
