// Package replica keeps the index in step with the store: it loads everything once and then applies what changed, in the order of revisions.
package replica
