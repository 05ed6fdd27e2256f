package mapdata

// UpstreamCall is how one call of an upstream ended (D8.6).
type UpstreamCall struct {
	OK       bool
	TimedOut bool
	Refused  bool // the upstream did not accept the secret
}
