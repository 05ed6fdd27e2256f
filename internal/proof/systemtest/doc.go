// Package systemtest runs the service's real program for tests of the whole system: it starts nodes, and providers,
// calls the API as a browser or a provider does, and waits for what must happen. Each folder beside it tests one topic.
package systemtest
