// Package datex2energy reads charging sites of DATEX II 3: EnergyInfrastructureTable and -StatusPublications, XML or
// JSON, both in one document or in two (D17.25). Statuses are read first, and kept by the ids of points; then sites are
// read as a stream.
package datex2energy
