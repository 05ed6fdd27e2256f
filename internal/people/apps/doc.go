// Package apps is the use case of apps (D16): submission, review, the catalogue, and the apps and settings of drivers. Its rules
// (what may be submitted, which configs a schema accepts, which versions are compatible) are pure.
package apps
