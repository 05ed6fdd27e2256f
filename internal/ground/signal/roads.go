package signal

// RoadsChanged signals that conditions on roads changed, or the roads themselves. Unlike the other signals it has any number of
// consumers.
type RoadsChanged struct{ Broadcast }
