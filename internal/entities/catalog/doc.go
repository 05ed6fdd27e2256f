// Package catalog is the catalogue of feeds in memory: what readers may select, and the health of each source. It is a
// projection of the store: Load and Apply build the next immutable view, at a cost proportional to the change. Reads are
// lock-free and use one view.
package catalog
