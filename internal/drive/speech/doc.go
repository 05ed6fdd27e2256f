// Package speech turns announcements of routes into sound with a program of the operator's choice, for cars whose
// browser has no voice (D15.25).
//
// The address of a clip contains the announcement itself, sealed with a key of the service. So only announcements that
// the service wrote into a route can be spoken, the service stores nothing for an address, and every node with the same
// secret key can answer it, also after a restart. The program reads the text from standard input. Its output is checked
// like any stranger's bytes before it is served, and cached in a folder of bounded size. Concurrent requests for one
// text run the program once, and few programs run at a time.
package speech
