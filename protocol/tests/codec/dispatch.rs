//! From a schema message to its Rust type.

use bytes::Bytes;
use protocol::api::ApiKey;
use protocol::messages::Message as Typed;
use protocol::wire::{DecodeError, EncodeError, Reader, Writer};
use protocol::{for_each_record, with_request, with_response};

use crate::schema::{Kind, Message};

/// What became of bytes that were decoded.
pub(crate) struct Recoded {
    /// Bytes behind the message.
    pub(crate) left: usize,
    /// The message encoded again, in the same version.
    pub(crate) bytes: Result<Bytes, EncodeError>,
    /// Its value, printed.
    pub(crate) value: String,
}

/// Decodes as the type of `message`, and encodes again.
pub(crate) fn recode(message: &Message, version: i16, bytes: &Bytes) -> Result<Recoded, DecodeError> {
    on_type(message, Recode { version, bytes })
}

/// The default value of the type, encoded.
pub(crate) fn encode_default(message: &Message, version: i16) -> Result<Bytes, EncodeError> {
    on_type(message, EncodeDefault { version })
}

trait Op {
    type Out;
    fn on<M: Typed>(&self) -> Self::Out;
}

fn on_type<O: Op>(message: &Message, op: O) -> O::Out {
    let key = message.key.and_then(ApiKey::from_code);
    match message.kind {
        Kind::Request => {
            with_request!(key.unwrap(), M => op.on::<M>(), _ => panic!("{key:?} has no request"))
        }
        Kind::Response => {
            with_response!(key.unwrap(), M => op.on::<M>(), _ => panic!("{key:?} has no response"))
        }
        _ => {
            let mut out = None;
            for_each_record!(M => if M::NAME == message.name { out = Some(op.on::<M>()) });
            out.unwrap()
        }
    }
}

struct Recode<'a> {
    version: i16,
    bytes: &'a Bytes,
}

impl Op for Recode<'_> {
    type Out = Result<Recoded, DecodeError>;

    fn on<M: Typed>(&self) -> Self::Out {
        let mut r = Reader::new(self.bytes.clone());
        let message = M::decode(&mut r, self.version)?;
        let mut w = Writer::new();
        let bytes = message.encode(&mut w, self.version).map(|()| {
            let len = w.len();
            let bytes = w.into_bytes();
            assert_eq!(bytes.len(), len);
            let again = M::decode(&mut Reader::new(bytes.clone()), self.version).unwrap();
            assert_eq!(again, message, "decoded again");
            bytes
        });
        Ok(Recoded { left: r.remaining(), bytes, value: format!("{message:?}") })
    }
}

struct EncodeDefault {
    version: i16,
}

impl Op for EncodeDefault {
    type Out = Result<Bytes, EncodeError>;

    fn on<M: Typed>(&self) -> Self::Out {
        let mut w = Writer::new();
        M::default().encode(&mut w, self.version)?;
        Ok(w.into_bytes())
    }
}
