// Package cluster tests nodes that share a database and a cache, with servers that fail, and a standby that is promoted.
package cluster
