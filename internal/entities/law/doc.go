// Package law implements geofenced display rules: areas in which an operator must hide kinds, or show cameras only as zones.
// It reads the areas from GeoJSON and decides for a position and kind; callers apply the decision to their answers.
package law
