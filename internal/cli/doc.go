// Package cli is the command line (D12): one file for each command, and the wiring of the service in serve.go. It alone
// knows every package, reads the environment and writes to the terminal.
package cli
