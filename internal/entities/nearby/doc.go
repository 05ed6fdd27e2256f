// Package nearby answers all reads of entities: a Query is answered from the index and the live incidents, with merging,
// display rules and the health of the sources concerned.
package nearby
