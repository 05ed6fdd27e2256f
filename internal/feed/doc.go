// Package feed is what account holders, curators and operators do with feeds: register, list, edit, rotate, review, delete.
package feed
