// Package takedown implements the measures of curators against single wrong pins, and drivers' complaints about wrong sources: hide and
// show a pin, complain about a source, close a complaint. Pauses and removals of whole feeds are in feed, suspensions of accounts in
// account.
package takedown
