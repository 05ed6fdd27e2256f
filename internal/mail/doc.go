// Package mail sends the letters that wait in the outbox, by SMTP or as .eml files.
package mail
