package nav

// Error is the reason why a request has no answer. Its code is one of OSRM's (D15.18).
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// The codes of errors.
const (
	InvalidURL     = "InvalidUrl"
	InvalidService = "InvalidService"
	InvalidVersion = "InvalidVersion"
	InvalidOptions = "InvalidOptions"
	InvalidQuery   = "InvalidQuery"
	InvalidValue   = "InvalidValue"
	NoSegment      = "NoSegment"
	NoRoute        = "NoRoute"
	NoTable        = "NoTable"
	NoMatch        = "NoMatch"
	NoRegion       = "NoRegion" // no region is served
	TooBig         = "TooBig"
	NotImplemented = "NotImplemented" // the configured engine does not have it
	NoEngine       = "NoEngine"       // the configured engine does not answer
)
