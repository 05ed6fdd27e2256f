// Package service tests one running service: signing in, streams, reloads, connections held open, the address of metrics.
package service
