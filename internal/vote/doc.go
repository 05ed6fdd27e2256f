// Package vote takes what signed-in drivers say of entities: that they are there, or that they are not (D9).
package vote
