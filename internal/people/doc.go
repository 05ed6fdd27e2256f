// Package people is the district of accounts and of what people do beside driving: apps, the audit log, takedowns and e-mails.
// It may know feeds, which people own, and the ground.
// This package itself is empty: each folder below it is a package.
package people
