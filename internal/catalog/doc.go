// Package catalog is the catalogue of feeds in memory: what readers may select, and the health of each source. It is a
// projection of the store: Load and Apply build the next view beside the one that readers see, at the cost of what
// changed. Reads take no lock and are answered from one immutable view.
package catalog
