package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"wayside/internal/ground/mapdata"
)

func TestBrowserOf(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/v2/auth/email", nil)
	r.Header.Add("Accept-Language", "nl;q=1")
	r.Header.Add("Accept-Language", "de;q=0.4, fr;q=0.6")
	r.Header.Set("User-Agent", "Test/1")
	if got := new(API).BrowserOf(r, new(Caller)); got.Language != mapdata.French || got.Agent != "Test/1" {
		t.Errorf("%+v", got)
	}
	r.Header.Del("Accept-Language")
	if got := new(API).BrowserOf(r, new(Caller)).Language; got != "" {
		t.Errorf("language %q of a browser that names none", got)
	}
}
