// Package refprovider is a relay provider: the other end of the calls that the service makes on drivers' requests (D8.7). It
// answers both specified endpoints from a snapshot of v1 rows in memory. It stands outside the service's door and knows
// kinds by their ids, as anybody's provider does; rows are decoded and judged by package ingest all the same, so that
// what it answers is what the service accepts (D3.13).
package refprovider
