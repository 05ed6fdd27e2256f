package push

// Service is the use case.
type Service struct{}
