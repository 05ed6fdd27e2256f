// Package people is the district of accounts and of what people do beside driving: apps, the audit log, takedowns and e-mails.
// It may know the ground alone: it names feeds by their ids.
// This package itself is empty: each folder below it is a package.
package people
