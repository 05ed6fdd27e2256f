package service

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"wayside/internal/ground/safehttp"
	"wayside/internal/people/apps"
	"wayside/internal/run/config"
)

// TestAnswersOfOthersAreBounded checks that 8 MiB are read of an upstream's answer, and 1 MiB of an app's page.
func TestAnswersOfOthersAreBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(make([]byte, size)) // a client that refuses the rest closes the connection
	}))
	defer server.Close()
	web, err := newUpstreamClient(&config.Config{}, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	for size, want := range map[int]bool{8 << 20: true, 8<<20 + 1: false} {
		target, err := safehttp.OperatorURL(server.URL + "/" + strconv.Itoa(size))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := web.Fetch(t.Context(), safehttp.Request{URL: target})
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			err = errors.Join(err, answer.Body.Close())
		}
		if (err == nil) != want {
			t.Errorf("an upstream's answer of %d bytes: %v", size, err)
		}
	}
	look := lookAt(web, &apps.Rules{DevOrigins: []string{server.URL}})
	for size, want := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		_, err := look(t.Context(), server.URL+"/"+strconv.Itoa(size))
		var unreachable *apps.UnreachableError
		if (err == nil) != want || err != nil && !errors.As(err, &unreachable) {
			t.Errorf("a page of %d bytes: %v", size, err)
		}
	}
}
