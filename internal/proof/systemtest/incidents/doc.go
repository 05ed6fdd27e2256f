// Package incidents tests live incidents on the real program: providers that stop and recover, and votes on their pins.
package incidents
