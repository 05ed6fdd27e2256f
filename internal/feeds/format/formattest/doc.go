// Package formattest is the contract of bridges on the cost of documents: whatever the shape of a document, twice the
// size takes at most about twice the work, the processor time and the memory, and the work that a budget counts matches
// the time taken.
package formattest
