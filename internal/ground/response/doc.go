// Package response writes whole HTTP responses: bodies compressed as Accept-Encoding allows, entity tags, and static files
// that are compressed once. It knows nothing of the API and is shared by everything that answers HTTP requests.
package response
