package console

import (
	"net/http"

	"wayside/internal/people/account"
)

// Privacy is the operator's part of the privacy notice; an empty field is shown as not set.
type Privacy struct {
	Operator string // name and postal address
	Contact  string // how the data protection contact is reached
	Hosting  string // where the machines stand
}

func (c *Console) privacyRoutes() []Route {
	return []Route{{Method: http.MethodGet, Path: "/privacy", Who: account.ForGuests, Handle: c.getPrivacy}}
}

// privacyTopics are the sections of the notice, each with a title and a text.
var privacyTopics = [...]string{"position", "votes", "account", "security", "providers", "cookies", "others", "deletion", "rights"}

type privacyPage struct {
	Privacy
	Topics []string
}

// getPrivacy answers GET /privacy: the privacy notice.
func (c *Console) getPrivacy(w http.ResponseWriter, r *http.Request, v *Visitor) error {
	return c.show(w, r, v, &Page{Name: "privacy", Data: privacyPage{c.Privacy, privacyTopics[:]}})
}
