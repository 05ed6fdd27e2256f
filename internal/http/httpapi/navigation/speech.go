package navigation

import (
	"errors"
	"net/http"
	"time"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/drive/speech"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi"
)

const (
	speechPath = httpapi.NavigationPath + "speech/"
	// clipCaching lets a browser keep a clip, because its address names one announcement in one voice forever.
	clipCaching = "private, max-age=2592000, immutable"
)

// offerClips adds the addresses of clips to the announcements of a route, if the operator has configured speech.
func (a *api) offerClips(q *osrm.Request) {
	if a.Speech == nil || q == nil {
		return
	}
	q.Clip = func(language, text string) string {
		if address := a.Speech.Address(language, text); address != "" {
			return speechPath + address
		}
		return ""
	}
}

// getSpeech answers GET /v2/navigation/speech/{hash} with an announcement of a route as sound (D15.25).
func (a *api) getSpeech(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	if a.Speech == nil {
		return mapdata.Describe(mapdata.ErrNotFound, "This service has no voice: its routes name no clips.")
	}
	clip, err := a.Speech.Clip(r.Context(), r.PathValue("hash"))
	switch {
	case errors.Is(err, speech.ErrUnknown):
		return mapdata.Describe(mapdata.ErrNotFound, "There is no such clip. Voice instructions of routes name theirs; ask for the route again.")
	case errors.Is(err, speech.ErrBusy), errors.Is(err, speech.ErrFailed):
		return &httpapi.Problem{
			Type: "unavailable", Status: http.StatusServiceUnavailable, RetryAfter: httpapi.UnavailableRetryAfter,
			Detail: "This announcement cannot be spoken now. Its text is in the route.",
		}
	case err != nil:
		return err
	}
	w.Header()["Content-Type"] = []string{clip.MediaType}
	w.Header()["X-Content-Type-Options"] = []string{"nosniff"}
	w.Header()["Cache-Control"] = []string{clipCaching}
	http.ServeContent(w, r, "", time.Time{}, clip) // handles ranges, which some browsers request for all sound
	return clip.Close()
}
