// Package cli is the command line (D12): one file for each command with its flags. Commands call package service for everything
// that they share with the running service. Only this package reads the environment and writes to the terminal.
package cli
