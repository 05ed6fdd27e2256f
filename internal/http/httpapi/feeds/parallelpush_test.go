package feeds_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestThirdPushOfAToken checks D7.1: while two bodies with one token arrive, a third push gets 429 before its body is sent, may
// come again after a second, and does not count against the limit of the minute. It passes once one of the two was answered.
func TestThirdPushOfAToken(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 3, Entities: 10_000})
	owner := d.SignedInAs("owner@example.org", mapdata.Driver)
	first, other := owner.RegisterPush("Ring"), owner.RegisterPush("Other")
	var pushes sync.WaitGroup
	t.Cleanup(pushes.Wait)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := func() (finish func()) {
		body, sending := io.Pipe()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.Server.URL+"/v2/feeds/"+*first.Token+"/entities", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		ended := make(chan struct{})
		pushes.Go(func() {
			defer close(ended)
			answer, err := d.Server.Client().Do(req)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Errorf("a push with few others: %v, %v", answer, err)
				return
			}
			_ = answer.Body.Close()
		})
		if _, err := io.WriteString(sending, "["); err != nil {
			t.Fatal(err)
		}
		return func() {
			_, _ = io.WriteString(sending, "]")
			_ = sending.Close()
			<-ended
		}
	}
	before := d.Pushes.HeldBytes()
	finishFirst := begin()
	d.WaitFor("the first body is not read", func() bool { return d.Pushes.HeldBytes() > before })
	one := d.Pushes.HeldBytes() - before
	finishSecond := begin()
	d.WaitFor("the second body is not read", func() bool { return d.Pushes.HeldBytes() == before+2*one })
	for range 5 {
		began := time.Now()
		refused := d.Push(*first.Token, "[]").Want(t, http.StatusTooManyRequests)
		if refused.Header.Get("Retry-After") != "1" || time.Since(began) > 5*time.Second {
			t.Errorf("Retry-After %q after %s: %s", refused.Header.Get("Retry-After"), time.Since(began), refused.Body)
		}
	}
	d.Push(*other.Token, "[]").Want(t, http.StatusOK)
	finishFirst()
	d.Push(*first.Token, "[]").Want(t, http.StatusOK) // the third request of this minute
	finishSecond()
	if refused := d.Push(*first.Token, "[]").Want(t, http.StatusTooManyRequests); refused.Header.Get("Retry-After") == "1" {
		t.Error("the fourth push of three a minute may come again after a second")
	}
}
