// Package people tests what people do on the real program, across nodes: reports, sessions, takedowns.
package people
