// Package telemetry is what an operator sees of the running service: its log, its metrics and its profiles (D12.4). No
// label, and nothing that is handed in here, says who asked, from where, for which place, or of which feed (D13.1).
package telemetry
