// Package livetest is the contract of every driver of live incidents, and of the rules on top of it (D8), as tests that
// each driver passes. A new behaviour is added here first.
package livetest
