package apps

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"wayside/internal/ground/mapdata"
)

// MaxPage bounds the bytes of an app's page, without the files that it loads.
const MaxPage = 1 << 20

// Page is the answer of an app's page.
type Page struct {
	Status       int
	Policies     []string // Content-Security-Policy headers
	FrameOptions []string // X-Frame-Options headers
	Body         []byte   // at most MaxPage bytes
	Proofs       []string // codes of proofs in its head
	Digest       string   // of its content
}

// NewPage completes a page of which everything but proofs and digest is known.
func NewPage(p Page) *Page {
	p.Proofs, p.Digest = readDocument(p.Body)
	return &p
}

// UnreachableError explains to the developer why the app's page cannot be read.
type UnreachableError struct{ Advice string }

func (e *UnreachableError) Error() string { return e.Advice }

// checkPage fetches the page of an app, and checks that it answers, belongs to its developer and allows a frame of this service
// (D16.2). It returns the digest of the page; empty: there is no page.
func (s *Service) checkPage(ctx context.Context, owner mapdata.AccountID, f *mapdata.AppFields, bad *mapdata.FieldErrors) (digest string, err error) {
	if f.WidgetURL == "" || s.Look == nil {
		return "", nil
	}
	page, err := s.Look(ctx, f.WidgetURL)
	var unreachable *UnreachableError
	switch {
	case errors.As(err, &unreachable):
		bad.Add("widget_url", "unreachable", unreachable.Advice)
		return "", nil
	case err != nil:
		return "", fmt.Errorf("fetch the page of an app: %w", err)
	case page.Status < 200 || page.Status > 299:
		bad.Add("widget_url", "unreachable", fmt.Sprintf("answers with status %d. It must answer 200", page.Status))
	default:
		if reason := s.Rules.frameRefusal(page); reason != "" {
			bad.Add("widget_url", "frame_refused", reason)
		}
		return page.Digest, s.checkProof(ctx, owner, f.WidgetURL, page, bad)
	}
	return "", nil
}

// frameRefusal explains why a browser does not show the page in a frame of this service; empty: it does. frame-ancestors replaces
// X-Frame-Options if both are given, and each of several policies has to allow the frame.
func (r *Rules) frameRefusal(p *Page) string {
	judged := false
	for _, header := range p.Policies {
		for policy := range strings.SplitSeq(header, ",") {
			sources, ok := frameAncestors(policy)
			if !ok {
				continue
			}
			judged = true
			if !r.allows(sources) {
				return "has a Content-Security-Policy whose frame-ancestors leaves out " + originOf(r.BaseURL)
			}
		}
	}
	if judged {
		return ""
	}
	for _, header := range p.FrameOptions {
		for value := range strings.SplitSeq(header, ",") {
			if value = strings.ToLower(strings.TrimSpace(value)); value == "deny" || value == "sameorigin" {
				return "sends X-Frame-Options: " + strings.ToUpper(value) + ". Send Content-Security-Policy: frame-ancestors " + originOf(r.BaseURL) + " instead"
			}
		}
	}
	return ""
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }

// frameAncestors returns the sources of a policy's directive frame-ancestors, of which the first counts.
func frameAncestors(policy string) (sources []string, ok bool) {
	for directive := range strings.SplitSeq(policy, ";") {
		if words := strings.Fields(directive); len(words) > 0 && strings.EqualFold(words[0], "frame-ancestors") {
			return words[1:], true
		}
	}
	return nil, false
}

// allows reports whether a source of frame-ancestors matches this service.
func (r *Rules) allows(sources []string) bool {
	for _, source := range sources {
		if r.matches(strings.ToLower(source)) {
			return true
		}
	}
	return false
}

// matches reports whether one source matches this service: *, a scheme, or a host with or without scheme and port.
func (r *Rules) matches(source string) bool {
	own := r.BaseURL
	if source == "*" {
		return true
	}
	if scheme, ok := strings.CutSuffix(source, ":"); ok {
		return fits(scheme, own.Scheme)
	}
	scheme, rest, found := strings.Cut(source, "://")
	if !found {
		rest = source
	} else if !fits(scheme, own.Scheme) {
		return false
	}
	rest, _, _ = strings.Cut(rest, "/")
	host, port := rest, ""
	if colon := strings.LastIndexByte(rest, ':'); colon >= 0 && !strings.HasSuffix(rest, "]") {
		host, port = rest[:colon], rest[colon+1:]
	}
	if port != "*" && portOf(own.Scheme, port) != portOf(own.Scheme, own.Port()) {
		return false
	}
	name := strings.ToLower(own.Host)
	if own.Port() != "" {
		name = strings.TrimSuffix(name, ":"+own.Port())
	}
	if suffix, ok := strings.CutPrefix(host, "*"); ok && strings.HasPrefix(suffix, ".") {
		return strings.HasSuffix(name, suffix)
	}
	return host == name
}

// fits reports whether a scheme of a policy allows this service's scheme: http allows https too.
func fits(scheme, own string) bool { return scheme == own || scheme == "http" && own == "https" }

func portOf(scheme, port string) string {
	switch {
	case port != "":
		return port
	case scheme == "https":
		return "443"
	}
	return "80"
}
