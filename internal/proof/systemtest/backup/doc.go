// Package backup tests on the real program that data last: killed services, full disks, backups, and accounts that are deleted.
package backup
