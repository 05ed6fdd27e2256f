// Package region tests regions on the real program: imports, what is made of them, and nodes that answer from different ones.
package region
