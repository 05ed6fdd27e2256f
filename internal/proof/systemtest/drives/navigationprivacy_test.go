package drives

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestRoutesAreNotLogged checks that neither the log, at the debug level, nor the metrics of the service contain a place of a
// request, valid or invalid, although the path of a request for a route consists of places (D13).
func TestRoutesAreNotLogged(t *testing.T) {
	t.Parallel()
	ops := systemtest.FreeAddress(t)
	s := systemtest.NewService(t, fmt.Sprintf("[log]\nlevel = \"debug\"\n\n[ops]\nlisten = %q\n", ops))
	s.ImportDrawing(twoBridges(t))
	s.Start(nil)
	guest := &systemtest.Client{Service: s}
	const from, to = "9.0012345,44.9987654", "9.0101234,44.9998765"
	answered := 0
	for _, path := range []string{
		"route/v1/driving/" + from + ";" + to + "?steps=true&alternatives=3", "table/v1/driving/" + from + ";" + to,
		"match/v1/driving/" + from + ";" + to, "nearest/v1/driving/" + from,
		"route/v1/driving/" + from, "route/v1/driving/" + from + ";" + to + "?radiuses=0;0", "route/v1/driving/" + from + ";" + to + "?%zz",
		"route/v2/driving/" + from, "trip/v1/driving/" + from, from + "/v1/driving/" + to, "route/v1/" + from + "/" + to, "route/v1/driving/" + from + "/" + to,
	} {
		if resp, _ := guest.Do(http.MethodGet, "/v2/navigation/"+path, nil); resp.StatusCode == http.StatusOK {
			answered++
		}
	}
	guest.Do(http.MethodPost, "/v2/navigation/route/v1/driving", map[string]any{"coordinates": [][]float64{{9.0012345, 44.9987654}, {9.0101234, 44.9998765}}})
	if answered < 3 {
		t.Errorf("only %d requests were answered", answered)
	}
	metrics := systemtest.Get(t, "http://"+ops+"/metrics")
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	places := regexp.MustCompile(`001234|998765|010123|999876`)
	if found := places.FindString(s.Log.String() + metrics); found != "" {
		t.Errorf("%q is told: %s", found, s.Log)
	}
}
