// Package speech has announcements of routes spoken by a program of the operator's choice, where a car's browser has no voice (D15.25).
//
// The address of a clip is the announcement itself, sealed with a key of the service: only what the service wrote into a route can be
// spoken, nothing is remembered for it, and any node with the same secret key answers it, also after a restart. The program gets the text
// on standard input. What it writes is judged as any stranger's bytes before it is served, and kept in a folder of bounded size. One text
// is spoken once, however many ask for it, and few programs run at a time.
package speech
