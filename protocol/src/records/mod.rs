//! Record batches, format version 2 (KIP-98).
