// Package words holds the messages of the pages in English, German and French: a folder for each language, with a file for
// each group of pages, in which each line is a key and its message:
//
//	account.title = Your account
//	feed.rows = {0} rows, {1} of them rejected
//	sessions.one = one session
//	sessions.other = {0} sessions
//
// {0}, {1}, … stand for arguments; *stars* make text strong, and `backticks` make it code. Tests check that every language
// has the same keys with the same placeholders, that every key is used, and that every used key exists.
package words
