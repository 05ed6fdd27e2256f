// Package signal holds the wake-ups between the parts of a running service. Each signal has one meaning and one consumer. All of
// them are made before the parts, so that a producer and its consumer get the same value and need not know each other. Notifying
// never blocks: notifications that the consumer has not taken yet are merged into one.
package signal
