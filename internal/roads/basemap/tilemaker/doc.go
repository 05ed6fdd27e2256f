// Package tilemaker makes the base map of a region: an archive of vector tiles from OpenStreetMap extracts, in the
// layers of the Protomaps basemap that the service's style draws.
//
// Make reads the extracts three times: relations, ways, nodes. Drawn objects become features in a plane of whole numbers
// (Web Mercator, worldBits), each with the lowest zoom that shows it; each vertex has the lowest zoom that needs it,
// computed once by Douglas-Peucker. Then the tiles are made from the top: a tile's features are clipped to its four
// parts, which are made next, on all cores. A tile's own features are released before those below it are made, so that
// memory holds the map about once.
//
// Areas of land and sea are made from coastlines, closed at the bounds of each extract. Objects that cannot be drawn are
// left out and counted.
package tilemaker
