package feeds

import (
	"net/http"
	"strings"

	"wayside/internal/http/httpapi"
)

// postEntities answers POST /v2/feeds/<push_token>/entities (D7). Nothing of the body is read before the push is admitted.
func (a *api) postEntities(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	gzipped, err := pushEncoding(r)
	if err != nil {
		return err
	}
	part, err := pushPart(r)
	if err != nil {
		return err
	}
	body := newPushBody(w, r, gzipped)
	admission, err := a.Pushes.Admit(r.Context(), r.PathValue("token"), c.Client)
	if err != nil {
		body.abandon()
		return err
	}
	defer admission.Close()
	report, err := admission.Push(r.Context(), part, body)
	if err != nil {
		body.abandon()
		return err
	}
	return httpapi.WriteJSON(w, r, http.StatusOK, &report)
}

// pushEncoding checks the headers of the body, and reports whether it is compressed (D7.1).
func pushEncoding(r *http.Request) (gzipped bool, err error) {
	if !httpapi.IsJSON(r) {
		return false, httpapi.UnsupportedMedia("Send the batch as Content-Type: application/json.")
	}
	switch encoding := strings.ToLower(strings.Join(r.Header.Values("Content-Encoding"), ",")); encoding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	}
	return false, httpapi.UnsupportedMedia("A batch may be compressed by Content-Encoding: gzip, or not at all.")
}
