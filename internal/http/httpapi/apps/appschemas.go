package apps

import (
	"net/http"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/response"
	"wayside/internal/http/httpapi"
	"wayside/internal/people/apps"
)

// schemasPath is the path of the JSON Schemas of apps' messages and submissions.
const schemasPath = "/v2/schemas/"

// getAppSchema answers GET /v2/schemas/{file}.
func (a *api) getAppSchema(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	text, ok := apps.JSONSchema(r.PathValue("file"))
	if !ok {
		return mapdata.Describe(mapdata.ErrNotFound, "There is no such schema. docs/apps.md lists them.")
	}
	w.Header().Set("Cache-Control", httpapi.CacheDocs)
	response.Write(w, r, http.StatusOK, "application/schema+json", text)
	return nil
}
