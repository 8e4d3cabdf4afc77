"""What the client suites share: counting, brokers to test, raw wire, record batches, librdkafka helpers."""
