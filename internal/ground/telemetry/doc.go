// Package telemetry makes the log, the metrics and the profiles of the running service for its operator (D12.4). No label
// and no argument identifies a caller, an address, a place or a feed (D13.1).
package telemetry
