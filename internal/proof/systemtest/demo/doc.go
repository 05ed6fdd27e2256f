// Package demo tests the demo as README.md and its own welcome describe it.
package demo
