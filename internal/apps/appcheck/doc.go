// Package appcheck runs the checks of the app bench in an installed Chromium: it serves the bench's own script to a page of its own,
// within the browser, and gives the report that the script returns. It talks to the browser over two pipes (the remote debugging
// protocol), so that no port is open meanwhile. What a page cannot see of a frame of another origin, uncaught errors and what the
// sandbox refused, it tells the script.
package appcheck
