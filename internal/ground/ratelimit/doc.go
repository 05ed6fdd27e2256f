// Package ratelimit limits how often a caller may ask. The rule is one pure function (GCRA, a leaky bucket that is a single
// instant), so that every store of buckets decides alike; Memory stores them in the process, in memory of fixed size, without
// allocating (D4.12, D7.3). No information about a caller is kept for longer than an hour (D13.2).
package ratelimit
