"""What the peer suites share: two brokers side by side, Kafka's tools in one JVM, comparing what they said."""
