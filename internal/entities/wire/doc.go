// Package wire encodes the JSON read shape of entities. The constant part of an entity is encoded once, when it is stored, and
// appended to every answer; only times, votes and merged sources are written for each read.
package wire
