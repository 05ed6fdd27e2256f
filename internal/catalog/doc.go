// Package catalog is the catalogue of what readers may select, and how each source does. It follows the store beside the
// index, and answers from memory: views are published whole, and readers never wait for one.
package catalog
