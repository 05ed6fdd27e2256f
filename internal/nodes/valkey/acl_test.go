package valkey_test

import (
	"net/url"
	"testing"
	"time"

	raw "github.com/valkey-io/valkey-go"

	"wayside/internal/nodes/valkey"
	"wayside/internal/proof/testenv"
)

// TestDocumentedUserHasThePermissions checks that the rights that docs/operating/cache.md gives a user are enough, and reach no
// other keys.
func TestDocumentedUserHasThePermissions(t *testing.T) {
	s := testenv.Cache(t)
	u, err := url.Parse(s.URL())
	must(t, err)
	password, _ := u.User.Password()
	admin, err := raw.NewClient(raw.ClientOption{InitAddress: []string{u.Host}, Password: password, DisableCache: true})
	must(t, err)
	defer admin.Close()
	must(t, admin.Do(t.Context(), admin.B().AclSetuser().Username("wayside").Rule(
		"on", ">secret", "~wayside:*", "&wayside:*", "-@all", "+@connection", "+get", "+mget", "+set", "+del", "+eval", "+evalsha", "+time", "+publish", "+subscribe",
	).Build()).Error())
	u.User = url.UserPassword("wayside", "secret")
	c := open(t, u.String(), valkey.Options{})
	if !works(t, c)() {
		t.Fatal("it does not work")
	}
	if done, err := c.Swap(t.Context(), "a", nil, []byte("1"), time.Minute); err != nil || !done {
		t.Error(done, err)
	}
	if done, err := c.Swap(t.Context(), "a", []byte("1"), []byte("2"), time.Minute); err != nil || !done {
		t.Error(done, err)
	}
	began := make(chan struct{}, 1)
	heard := make(chan string, 1)
	go func() {
		_ = c.Follow(t.Context(), "peers", func() { began <- struct{}{} }, func(m []byte) { heard <- string(m) })
	}()
	<-began
	must(t, c.Publish(t.Context(), "peers", []byte("word")))
	if <-heard != "word" {
		t.Error("another word")
	}
	must(t, c.Delete(t.Context(), "a"))
	if _, err := c.Eval(t.Context(), valkey.NewScript("return {redis.call('TIME')[1]}"), nil, nil); err != nil {
		t.Error(err)
	}
}
