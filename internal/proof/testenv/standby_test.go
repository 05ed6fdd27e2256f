package testenv

import (
	"context"
	"testing"
	"time"
)

// TestStandby checks that a standby has every row that its primary acknowledged, that it accepts writes once it is promoted, and
// that the primary waits for it.
func TestStandby(t *testing.T) {
	first := Postgres(t)
	conn := connect(t, first.URL())
	do(t, conn, "CREATE TABLE kept (n int)")
	second := first.Standby(t)
	do(t, conn, "INSERT INTO kept VALUES (1)")
	must(t, second.Pause())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := conn.Exec(ctx, "INSERT INTO kept VALUES (2)"); err == nil {
		t.Error("acknowledged without the standby")
	}
	must(t, second.Resume())
	if got := serverOf(t, first.URLs(second)); got != first.data() {
		t.Errorf("the server that can be written to is %s", got)
	}
	must(t, first.Kill())
	if _, err := connect(t, second.URL()).Exec(t.Context(), "INSERT INTO kept VALUES (3)"); err == nil {
		t.Error("a standby takes writes")
	}
	must(t, second.Promote())
	for _, urls := range []string{first.URLs(second), second.URLs(first)} {
		if got := serverOf(t, urls); got != second.data() {
			t.Errorf("the server that can be written to is %s", got)
		}
	}
	conn = connect(t, second.URL())
	do(t, conn, "INSERT INTO kept VALUES (4)")
	if n := value[int](t, conn, "SELECT count(*) FROM kept WHERE n IN (1, 4)"); n != 2 {
		t.Errorf("%d of 2 rows", n)
	}
}

// serverOf returns the data folder of the server that a URL of several servers connects to.
func serverOf(t *testing.T, urls string) string {
	t.Helper()
	return value[string](t, connect(t, urls), "SHOW data_directory")
}
