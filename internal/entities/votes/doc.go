// Package votes records drivers' votes on entities: confirms and disputes (D9). It also holds the tallies of votes on live
// incidents in memory, as a projection of the store with lock-free reads. Votes on entities of feeds are in the index.
package votes
