// Package push takes batches of rows from whoever holds a feed's push token: the token, then the rates, then the rows
// (D7).
package push
