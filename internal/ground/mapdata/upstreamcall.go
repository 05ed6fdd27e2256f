package mapdata

// UpstreamCall is the result of one call of an upstream (D8.6).
type UpstreamCall struct {
	OK       bool
	TimedOut bool
	Refused  bool // the upstream did not accept the secret
}
