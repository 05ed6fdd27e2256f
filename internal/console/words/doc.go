// Package words holds what the pages say, in English, German and French: one folder for each language, in it a file for
// each group of pages, in which each line is a key and its text:
//
//	account.title = Your account
//	feed.rows = {0} rows, {1} of them rejected
//	sessions.one = one session
//	sessions.other = {0} sessions
//
// {0}, {1}, … stand for what is put in; *stars* make words strong, and `backticks` make them code. Every language has the
// same keys with the same placeholders, every key is used, and every key that is used is there: tests say so.
package words
