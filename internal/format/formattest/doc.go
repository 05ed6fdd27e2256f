// Package formattest is the contract of bridges on what documents cost: whatever shape a stranger gives a document, one that is twice as
// large takes at most about twice the work, the processor time and the memory, and what a budget counts is what it takes.
package formattest
