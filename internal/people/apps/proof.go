package apps

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"wayside/internal/ground/mapdata"
)

// Where a developer publishes a proof: as a line of a file, or in the page itself.
const (
	proofPath = "/.well-known/wayside-app.txt"
	proofName = "wayside-app" // of the meta element
)

// maxProofFile is how many bytes of the file are read: a proof takes 27, so that some 150 developers of one host fit.
const maxProofFile = 4 << 10

// Proof is what a developer publishes to show that an origin, or a page of it, is theirs.
type Proof struct {
	Code string // in lower case, without spaces
	File string // address of a text file of which the code is one line
	Meta string // the element with the code in the page's head, as HTML
}

// ProofOf returns the proof that an account publishes for a page. It is the same for all pages of an origin, and reveals nothing
// about the account: it is derived from both with a key of this service, so that nothing has to be stored before the first
// submission. nil: the page needs none, because its origin is one for developing apps, or the address has no origin.
func (s *Service) ProofOf(owner mapdata.AccountID, address string) *Proof {
	origin := OriginOf(address)
	if origin == "" || s.Rules.exempts(address) {
		return nil
	}
	mac := hmac.New(sha256.New, s.ProofKey)
	mac.Write(owner[:])
	mac.Write([]byte(origin))
	code := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil)[:16]))
	return &Proof{Code: code, File: origin + proofPath, Meta: `<meta name="` + proofName + `" content="` + code + `">`}
}

// checkProof checks that the page of an app belongs to its developer, by an element of the page or else by the file of its origin.
func (s *Service) checkProof(ctx context.Context, owner mapdata.AccountID, address string, page *Page, bad *mapdata.FieldErrors) error {
	proof := s.ProofOf(owner, address)
	if proof == nil || slices.Contains(page.Proofs, proof.Code) {
		return nil
	}
	file, err := s.Look(ctx, proof.File)
	var unreachable *UnreachableError
	switch {
	case errors.As(err, &unreachable):
	case err != nil:
		return fmt.Errorf("fetch the proof of an app: %w", err)
	case file.Status == 200 && hasLine(file.Body[:min(len(file.Body), maxProofFile)], proof.Code):
		return nil
	}
	bad.Add("widget_url", "unproven", "is not shown to be yours. Put "+proof.Meta+" into the page's head, or publish a text file at "+
		proof.File+" with the line "+proof.Code+". Then send this again")
	return nil
}

// hasLine reports whether a text has a line.
func hasLine(text []byte, line string) bool {
	for one := range bytes.Lines(text) {
		if string(bytes.TrimSpace(one)) == line {
			return true
		}
	}
	return false
}

// readDocument returns the proofs in the head of a page, and a digest of its elements and texts as a browser's tokenizer sees them.
// The digest leaves out comments and the values of nonce, which change with each answer of a page that has a policy for its
// scripts.
func readDocument(body []byte) (proofs []string, digest string) {
	sum := sha256.New()
	inHead := true
	tokens := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // a reader of bytes ends with io.EOF, and has no other error
			return proofs, fmt.Sprintf("%x", sum.Sum(nil))
		case html.CommentToken:
		default:
			token := tokens.Token()
			token.Attr = slices.DeleteFunc(token.Attr, func(a html.Attribute) bool { return a.Key == "nonce" })
			_, _ = fmt.Fprintf(sum, "%d %q %q\n", token.Type, token.Data, token.Attr) // a hash never fails
			inHead = inHead && token.DataAtom != atom.Body
			if inHead && token.DataAtom == atom.Meta {
				proofs = append(proofs, proofsOf(&token)...)
			}
		}
	}
}

// proofsOf returns the codes of an element: it may have several, for several services or accounts.
func proofsOf(meta *html.Token) []string {
	var name, content string
	for _, a := range meta.Attr {
		switch a.Key {
		case "name":
			name = a.Val
		case "content":
			content = a.Val
		}
	}
	if !strings.EqualFold(strings.TrimSpace(name), proofName) {
		return nil
	}
	return strings.Fields(content)
}
