// Package votes takes what signed-in drivers say of entities: that they are there, or that they are not (D9). It also holds
// the votes on live incidents in memory: a projection of the store, whose readers take no lock. Votes on entities of feeds
// are in the index.
package votes
