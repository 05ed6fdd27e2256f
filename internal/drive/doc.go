// Package drive is the district of a driver on the way: routes, guidance, alerts, traffic and speech.
// It may know entities, roads and the ground.
// This package itself is empty: each folder below it is a package.
package drive
