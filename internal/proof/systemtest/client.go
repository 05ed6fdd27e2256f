package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client is an API client of the service.
type Client struct {
	Service *Service
	HTTP    http.Client
	Cookie  *http.Cookie
}

// SignIn makes an account at the command line and signs in with its link (D12.3).
func (s *Service) SignIn(email string) *Client {
	s.T.Helper()
	s.CLI("account", "create", "--email", email)
	link, err := url.Parse(strings.TrimSpace(s.CLI("account", "login-link", "--email", email)))
	if err != nil {
		s.T.Fatal(err)
	}
	c := &Client{Service: s, HTTP: http.Client{Timeout: time.Minute}}
	resp, body := c.Do(http.MethodPost, "/v2/auth/verify", map[string]string{"token": link.Query().Get("token")})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) == 0 {
		s.T.Fatalf("sign in: %d %s", resp.StatusCode, body)
	}
	c.Cookie = resp.Cookies()[0]
	return c
}

// Do sends a request and reads the answer. It fails the test if there is none.
func (c *Client) Do(method, path string, in any) (*http.Response, []byte) {
	c.Service.T.Helper()
	resp, body, err := c.Try(method, path, in)
	if err != nil {
		c.Service.T.Fatalf("%s %s: %v\n%s", method, path, err, c.Service.Log)
	}
	return resp, body
}

// Try sends a request and reads the answer, or returns why there is none.
func (c *Client) Try(method, path string, in any) (*http.Response, []byte, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, c.Service.Base+path, body)
	if err != nil {
		return nil, nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Cookie != nil {
		req.AddCookie(c.Cookie)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

// PushFeed is a registered push feed.
type PushFeed struct{ ID, Token string }

// Register registers a public push feed and approves it at the command line.
func (c *Client) Register(name string) PushFeed {
	c.Service.T.Helper()
	resp, body := c.Do(http.MethodPost, "/v2/feeds", map[string]any{"name": name, "direction": "push", "visibility": "public"})
	var got struct {
		Feed struct{ ID string }
		Push string `json:"push_ingest_token"`
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusCreated || got.Push == "" {
		c.Service.T.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	c.Service.CLI("feed", "approve", got.Feed.ID)
	return PushFeed{got.Feed.ID, got.Push}
}

// Row is a v1 row.
type Row struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
}

// RowsAt makes n rows within some metres of a point.
func RowsAt(lat, lng float64, prefix string, n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{fmt.Sprintf("%s-%d", prefix, i), "camera.speed", lat + float64(i)*1e-6, lng, map[string]any{"prefix": prefix}}
	}
	return rows
}

// Near returns the external ids within a kilometre of a point.
func (c *Client) Near(lat, lng float64) ([]string, error) {
	resp, body, err := c.Try(http.MethodGet, fmt.Sprintf("/v2/entities/nearby?lat=%f&lng=%f&radius=1000&limit=1000", lat, lng), nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Entities []struct {
			ExternalID string `json:"external_id"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read: %d %s", resp.StatusCode, body)
	}
	ids := make([]string, len(got.Entities))
	for i := range got.Entities {
		ids[i] = got.Entities[i].ExternalID
	}
	return ids, nil
}

// From returns a client whose connections come from one address of this machine; each request opens a new one.
func (s *Service) From(address string) *Client {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, to)
	}}
	return &Client{Service: s, HTTP: http.Client{Transport: transport, Timeout: 5 * time.Second}}
}

// At returns the same caller at another node.
func (c *Client) At(node *Service) *Client {
	return &Client{Service: node, HTTP: http.Client{Timeout: time.Minute}, Cookie: c.Cookie}
}

// Batch is one pushed batch, and whether it was acknowledged.
type Batch struct {
	Feed     int
	Number   int
	Answered bool
}

// Place returns the position of a batch's rows, more than a kilometre from those of other batches.
func (b Batch) Place() (lat, lng float64) {
	return -60 + float64(b.Number%1200)*0.1, -150 + float64(b.Feed)*10 + float64(b.Number/1200)*0.1
}

// Vote casts a vote that must succeed, and returns the entity in the answer. It reads the nearby entities first, because votes of
// drivers who are far away do not count.
func (c *Client) Vote(id, what string) *LiveEntity {
	c.Service.T.Helper()
	c.Look(2000)
	resp, body := c.Do(http.MethodPost, "/v2/entities/"+id+"/"+what, nil)
	var got struct{ Entity LiveEntity }
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		c.Service.T.Fatalf("%s: %d %s", what, resp.StatusCode, body)
	}
	return &got.Entity
}

// Flood opens connections from a number of addresses of this machine and sends the beginning of a request on each.
func (s *Service) Flood(connections, addresses int, text string) {
	s.T.Helper()
	for i := range connections {
		from := net.IPv4(127, 1, byte(i%addresses/250), byte(1+i%addresses%250))
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: 10 * time.Second}
		conn, err := dialer.DialContext(s.T.Context(), "tcp", strings.TrimPrefix(s.Base, "http://"))
		if err != nil {
			continue // refused, which is fine
		}
		s.T.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, text) // may be refused by now
	}
}
