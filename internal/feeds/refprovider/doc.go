// Package refprovider is a relay provider: the other end of the calls that the service makes on drivers' requests (D8.7). It
// answers both specified endpoints from a snapshot of v1 rows in memory. It is outside of the service, as any provider is, and
// knows kinds only by their ids. Package ingest decodes and checks its rows all the same, so that its answers are those that the
// service accepts (D3.13).
package refprovider
