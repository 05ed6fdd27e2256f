// Package law knows the areas in which an operator must not show everything: kinds that are hidden there, and cameras that
// are shown only as a zone. It reads them from GeoJSON and judges places; it takes nothing from answers itself.
package law
