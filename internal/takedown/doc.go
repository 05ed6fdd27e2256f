// Package takedown is what curators do against single wrong pins, and what drivers tell them of wrong sources: hide and show
// a pin, complain about a source, close a complaint. Pauses and removals of whole feeds are in feed, suspensions of accounts
// in account.
package takedown
