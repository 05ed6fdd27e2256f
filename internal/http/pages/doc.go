// Package pages serves the files that browsers load: the page for cars, the scripts of the console's pages, and the icons
// of kinds. Built files come from web/; their paths hold a version made of their content, so that browsers may cache them
// forever and never mix two releases. The caller (httpapi) mounts the handlers in its table of routes.
package pages
