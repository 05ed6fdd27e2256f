// Package appcheck runs the checks of the app bench in an installed Chromium: it serves the bench's own script to a page that it
// makes up, within the browser, and returns the report of the script. It talks to the browser over two pipes (the remote debugging
// protocol), so that no port is open meanwhile. A page cannot see uncaught errors in a frame of another origin, nor the actions
// that the sandbox refused; this package reports them to the script.
package appcheck
