// Package tilemaker makes the base map of a region: an archive of vector tiles from OpenStreetMap extracts, in the layers of the Protomaps
// basemap that the service's style draws.
//
// Make reads the extracts three times: relations, ways, nodes. What is drawn becomes features in a plane of whole numbers (Web Mercator,
// worldBits), each with the lowest zoom that shows it; each vertex has the lowest zoom that needs it, found once by Douglas-Peucker. Then the
// tiles are made from the top: a tile's features are clipped to its four parts, which are made next, on all cores. A tile's own features
// are let go before those below it are made, so that memory holds the map about once.
//
// Land and sea are areas made of coastlines, closed at the bounds of each extract. Whatever cannot be drawn is left out and counted.
package tilemaker
